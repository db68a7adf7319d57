/**
 * Keys as SlateDB stores them. SlateDB refuses empty keys, so each has one byte before it, which is the same for all and keeps
 * their order.
 */

import { type Bytes, type StoredBound, type StoredRange, StoredRanges } from 'terrace-core'
import type { KeyRange } from './binding.js'
import { slateError } from './errors.js'

/** The byte before each key. */
const PREFIX = 1

/** The maximum size of a key, in bytes: the 65,535 that SlateDB allows, minus a prefix of one byte. */
export const MAX_KEY_SIZE_BYTES = 65_534

/** The longest value, in bytes. */
export const MAX_VALUE_SIZE_BYTES = 2 ** 32 - 1

/** The lower end of all keys: the empty one. */
const FIRST: StoredBound<Buffer> = { key: Buffer.from([PREFIX]), isIncluded: true }
/** The upper end of all keys. */
const END: StoredBound<Buffer> = { key: Buffer.from([PREFIX + 1]), isIncluded: false }

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

/** Ranges of stored keys. */
export const ranges: StoredRanges<Buffer> = new StoredRanges({
  stored: storedKey,
  compare: (a, b) => a.compare(b)
})

/** The range as SlateDB takes it. */
export function nativeRange({ lower = FIRST, upper = END }: StoredRange<Buffer>): KeyRange {
  return {
    start: lower.key,
    start_inclusive: lower.isIncluded,
    end: upper.key,
    end_inclusive: upper.isIncluded
  }
}

/** Whether no key can lie within a range. SlateDB refuses such ranges. */
export function isEmpty({ lower = FIRST, upper = END }: StoredRange<Buffer>): boolean {
  return ranges.isEmpty({ lower, upper })
}
