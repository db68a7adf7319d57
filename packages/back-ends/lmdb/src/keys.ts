/**
 * Keys as LMDB stores them. LMDB refuses empty keys, so each has one byte before it, which is the same for all and keeps their
 * order.
 */

import type { Bytes, Range } from 'terrace-core'
import { lmdbError } from './errors.js'
import { textOf } from './text.js'

/** The byte before each key. */
const PREFIX = 1

/** The longest key of a database, in bytes: the 1,978 that lmdb allows with pages of 4 KiB, without {@link PREFIX}. */
export const MAX_KEY_SIZE_BYTES = 1977

/** A key with its prefix, or a bound that no key needs to have. */
export class StoredKey {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  static of(key: Bytes): StoredKey {
    return new StoredKey(storedBytes(key))
  }
}

/** Before all keys. It is the empty key as well. */
const first = new StoredKey(Buffer.from([PREFIX]))
/** After all keys. */
const end = new StoredKey(Buffer.from([PREFIX + 1]))

function storedBytes(key: Bytes): Buffer {
  const isText = typeof key === 'string'
  const stored = Buffer.allocUnsafe(1 + (isText ? Buffer.byteLength(key) : key.length))
  stored[0] = PREFIX
  if (isText) stored.write(key, 1)
  else stored.set(key, 1)
  return stored
}

/** Whether LMDB can store the key. */
export function fits(key: Bytes): boolean {
  // A character takes at most three bytes of UTF-8, so most text need not be measured.
  if (typeof key !== 'string') return key.length <= MAX_KEY_SIZE_BYTES
  return key.length * 3 <= MAX_KEY_SIZE_BYTES || Buffer.byteLength(key) <= MAX_KEY_SIZE_BYTES
}

/** @throws LEVEL_KEY_TOO_LARGE */
export function checkKey(key: Bytes): void {
  if (fits(key)) return
  const size = typeof key === 'string' ? Buffer.byteLength(key) : key.length
  throw lmdbError(
    'LEVEL_KEY_TOO_LARGE',
    `The key has ${size} bytes; a database in LMDB takes at most ${MAX_KEY_SIZE_BYTES}, with the names of its sublevels`
  )
}

/** How lmdb writes and reads the keys of a store. */
export class KeyCodec {
  /** Whether keys are read as strings. */
  asText = false
  #source: Buffer | undefined
  #start = 0
  #end = 0

  /** Puts a key at `start` of `target`, and returns where it ends. lmdb calls it without `this`. */
  readonly writeKey = (key: Bytes | StoredKey, target: Buffer, start: number): number => {
    if (key instanceof StoredKey) {
      target.set(key.bytes, start)
      return start + key.bytes.length
    }

    target[start] = PREFIX
    if (typeof key === 'string') return start + 1 + target.write(key, start + 1)
    target.set(key, start + 1)
    return start + 1 + key.length
  }

  /** Reads the key from `start` to `end` of `source`, which lmdb uses again for the next key. */
  readonly readKey = (source: Buffer, start: number, end: number): Bytes => {
    this.#source = source
    this.#start = start
    this.#end = end
    if (this.asText) return textOf(source, start + 1, end)

    const key = Buffer.allocUnsafe(end - start - 1)
    source.copy(key, 0, start + 1, end)
    return key
  }

  /** The bytes of the key that was read last. Text does not tell them if they are not UTF-8. */
  last(): StoredKey {
    return new StoredKey(Buffer.from((this.#source as Buffer).subarray(this.#start, this.#end)))
  }
}

/** One end of a range of stored keys. */
export interface Bound {
  readonly key: StoredKey
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
    lower: lower === undefined ? { key: first, isIncluded: true } : lowerBound(lower, gte !== undefined),
    upper: upper === undefined ? { key: end, isIncluded: false } : upperBound(upper, lte !== undefined)
  }
}

/** No key is as long as a bound may be: after a bound come the keys after its beginning, which could be a key. */
function lowerBound(key: Bytes, isIncluded: boolean): Bound {
  const stored = StoredKey.of(key)
  return fits(key) ? { key: stored, isIncluded } : { key: shortened(stored), isIncluded: false }
}

function upperBound(key: Bytes, isIncluded: boolean): Bound {
  const stored = StoredKey.of(key)
  return fits(key) ? { key: stored, isIncluded } : { key: shortened(stored), isIncluded: true }
}

function shortened({ bytes }: StoredKey): StoredKey {
  return new StoredKey(bytes.subarray(0, 1 + MAX_KEY_SIZE_BYTES))
}

/** Whether a key lies within a range. */
export function contains({ lower, upper }: StoredRange, { bytes }: StoredKey): boolean {
  const fromLower = bytes.compare(lower.key.bytes)
  const fromUpper = bytes.compare(upper.key.bytes)
  return (
    (fromLower > 0 || (fromLower === 0 && lower.isIncluded)) &&
    (fromUpper < 0 || (fromUpper === 0 && upper.isIncluded))
  )
}
