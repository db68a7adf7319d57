/**
 * Keys as LMDB stores them. LMDB refuses empty keys, so each has one byte before it, which is the same for all and keeps their
 * order.
 */

import { type Bytes, type StoredBound, StoredRanges } from 'terrace-core'
import { lmdbError } from './errors.js'
import { textOf } from './text.js'

/** The byte before each key. */
const PREFIX = 1

/** The maximum size of a key, in bytes: the 1,978 that LMDB allows with 4 KiB pages, minus a prefix of one byte. */
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

/** The lower end of all keys: the empty one. */
export const FIRST: StoredBound<StoredKey> = { key: new StoredKey(Buffer.from([PREFIX])), isIncluded: true }
/** The upper end of all keys. */
export const END: StoredBound<StoredKey> = {
  key: new StoredKey(Buffer.from([PREFIX + 1])),
  isIncluded: false
}

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

/** Ranges of stored keys. */
export const ranges = new StoredRanges<StoredKey>({
  stored: StoredKey.of,
  shortened: ({ bytes }) =>
    bytes.length > 1 + MAX_KEY_SIZE_BYTES
      ? new StoredKey(bytes.subarray(0, 1 + MAX_KEY_SIZE_BYTES))
      : undefined,
  compare: (a, b) => a.bytes.compare(b.bytes)
})
