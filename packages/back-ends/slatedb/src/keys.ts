/**
 * Keys as SlateDB stores them. SlateDB refuses empty keys, so each has one byte before it, which is the same for all and keeps
 * their order.
 */

import type { Bytes, Range } from 'terrace-core'
import type { KeyRange } from './binding.js'
import { slateError } from './errors.js'

/** The byte before each key. */
const PREFIX = 1

/** The longest key of a database, in bytes: the 65,535 that SlateDB allows, without {@link PREFIX}. */
export const MAX_KEY_SIZE_BYTES = 65_534

/** The longest value, in bytes. */
export const MAX_VALUE_SIZE_BYTES = 2 ** 32 - 1

const first = Buffer.from([PREFIX])
const end = Buffer.from([PREFIX + 1])

/** The key as it is stored. The result is a copy. */
export function storedKey(key: Bytes): Buffer {
  const isText = typeof key === 'string'
  const stored = Buffer.allocUnsafe(1 + sizeOf(key))
  stored[0] = PREFIX
  if (isText) stored.write(key, 1)
  else stored.set(key, 1)
  return stored
}

/** The value as it is stored, which shares memory with the user's unless that is text. */
export function storedValue(value: Bytes): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value
}

/** The key as users have it, in a format. */
export function userKey(stored: Uint8Array, format: string | undefined): Bytes {
  return inFormat(stored.subarray(1), format)
}

/** Bytes in a format. Those that are not text share memory with what was stored. */
export function inFormat(bytes: Uint8Array, format: string | undefined): Bytes {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return format === 'utf8' ? buffer.toString('utf8') : buffer
}

/** The size of a key or value in bytes. */
function sizeOf(bytes: Bytes): number {
  return typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length
}

/** Whether SlateDB can store the key. */
export function fits(key: Bytes): boolean {
  return sizeOf(key) <= MAX_KEY_SIZE_BYTES
}

/** @throws LEVEL_KEY_TOO_LARGE, LEVEL_VALUE_TOO_LARGE */
export function checkOperation(key: Bytes, value: Bytes | null): void {
  if (!fits(key)) {
    throw slateError(
      'LEVEL_KEY_TOO_LARGE',
      `The key has ${sizeOf(key)} bytes; SlateDB takes at most ${MAX_KEY_SIZE_BYTES}, with the names of its sublevels`
    )
  }
  if (value !== null && sizeOf(value) > MAX_VALUE_SIZE_BYTES) {
    throw slateError(
      'LEVEL_VALUE_TOO_LARGE',
      `The value has ${sizeOf(value)} bytes; SlateDB takes at most ${MAX_VALUE_SIZE_BYTES}`
    )
  }
}

/** One end of a range of stored keys. */
interface Bound {
  readonly key: Buffer
  readonly isIncluded: boolean
}

/** A range of stored keys. */
export interface StoredRange {
  readonly lower: Bound
  readonly upper: Bound
}

/** The range of stored keys that a range of keys is. */
export function storedRange({ gte, gt, lte, lt }: Range): StoredRange {
  const lower = gte ?? gt
  const upper = lte ?? lt
  return {
    lower:
      lower === undefined
        ? { key: first, isIncluded: true }
        : { key: storedKey(lower), isIncluded: gte !== undefined },
    upper:
      upper === undefined
        ? { key: end, isIncluded: false }
        : { key: storedKey(upper), isIncluded: lte !== undefined }
  }
}

/** The rest of a range from a key on, in the direction of a walk. */
export function from(range: StoredRange, reverse: boolean, key: Buffer, isIncluded: boolean): StoredRange {
  const bound = { key, isIncluded }
  return reverse ? { ...range, upper: bound } : { ...range, lower: bound }
}

/** Whether a key lies within a range. */
export function contains({ lower, upper }: StoredRange, key: Buffer): boolean {
  const fromLower = key.compare(lower.key)
  const fromUpper = key.compare(upper.key)
  return (
    (fromLower > 0 || (fromLower === 0 && lower.isIncluded)) &&
    (fromUpper < 0 || (fromUpper === 0 && upper.isIncluded))
  )
}

/** Whether no key can lie within a range. SlateDB refuses such ranges. */
export function isEmpty({ lower, upper }: StoredRange): boolean {
  const order = lower.key.compare(upper.key)
  return order > 0 || (order === 0 && !(lower.isIncluded && upper.isIncluded))
}

/** The range as SlateDB takes it. */
export function nativeRange({ lower, upper }: StoredRange): KeyRange {
  return {
    start: lower.key,
    start_inclusive: lower.isIncluded,
    end: upper.key,
    end_inclusive: upper.isIncluded
  }
}
