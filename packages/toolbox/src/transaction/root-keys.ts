/** Keys and ranges of a key space, in terms of the root. */

import { type ByteString, byteString } from '../encoded.js'
import { codedError } from '../errors.js'
import { endOf, type KeySpace } from '../key-space.js'
import type { KeyRange, RangeOptions } from './key-range.js'

/**
 * A key in terms of the root.
 *
 * @throws LEVEL_INVALID_KEY if the key is null or undefined, and the errors of the encoding.
 */
export function fullKey(space: KeySpace, key: unknown, encoding: unknown): ByteString {
  if (key === null || key === undefined) {
    throw codedError('LEVEL_INVALID_KEY', 'Key cannot be null or undefined')
  }

  return space.prefix + byteString(space.keyEncoding(encoding).encode(key))
}

/** The range that an iterator's options describe, in terms of the root. */
export function fullRange(space: KeySpace, options: RangeOptions, encoding: unknown): KeyRange {
  const { encode } = space.keyEncoding(encoding)
  const inRoot = (bound: unknown): ByteString => space.prefix + byteString(encode(bound))
  let from = space.prefix
  let to = space.end

  if ('gte' in options) from = inRoot(options.gte)
  else if ('gt' in options) from = after(inRoot(options.gt))

  if ('lte' in options) to = after(inRoot(options.lte))
  else if ('lt' in options) to = inRoot(options.lt)

  return { from, to }
}

/** The key of the record that a view consults about hiding an entry; undefined if there is no view. */
export function recordKey({ prefix, records }: KeySpace, key: ByteString): ByteString | undefined {
  return records === undefined ? undefined : records + key.slice(prefix.length)
}

/** Like {@link recordKey}, for a range that may change. */
export class RecordRange implements KeyRange {
  readonly #space: KeySpace
  readonly #range: KeyRange

  constructor(space: KeySpace, range: KeyRange) {
    this.#space = space
    this.#range = range
  }

  get from(): ByteString {
    return recordKey(this.#space, this.#range.from) as ByteString
  }

  get to(): ByteString | undefined {
    const { to } = this.#range
    const { end, records } = this.#space
    return to === end ? endOf(records as ByteString) : recordKey(this.#space, to as ByteString)
  }
}

/** The next greater key. */
export function after(key: ByteString): ByteString {
  return `${key}\0`
}
