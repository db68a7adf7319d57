/** Keys and ranges of a key space, as the root has them. */

import { type ByteString, byteString } from '../encoded.js'
import { codedError } from '../errors.js'
import { endOf, type KeySpace } from '../key-space.js'
import type { KeyRange, RangeOptions } from './key-range.js'

/**
 * The key as the root has it.
 *
 * @throws LEVEL_INVALID_KEY; what the encoding throws.
 */
export function fullKey(space: KeySpace, key: unknown, encoding: unknown): ByteString {
  if (key === null || key === undefined) {
    throw codedError('LEVEL_INVALID_KEY', 'Key cannot be null or undefined')
  }

  return space.prefix + byteString(space.keyEncoding(encoding).encode(key))
}

/** The range that options of an iterator name, among the keys of the root. */
export function fullRange(space: KeySpace, options: RangeOptions, encoding: unknown): KeyRange {
  const { encode } = space.keyEncoding(encoding)
  const place = (bound: unknown): ByteString => space.prefix + byteString(encode(bound))
  let from = space.prefix
  let to = space.end

  if ('gte' in options) from = place(options.gte)
  else if ('gt' in options) from = after(place(options.gt))

  if ('lte' in options) to = after(place(options.lte))
  else if ('lt' in options) to = place(options.lt)

  return { from, to }
}

/** The key of the record that says whether a view hides the entry of a key; undefined where there is no view. */
export function recordKey({ prefix, records }: KeySpace, key: ByteString): ByteString | undefined {
  return records === undefined ? undefined : records + key.slice(prefix.length)
}

/** As {@link recordKey}, of a range that may change. */
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

/** The first key that is greater. */
export function after(key: ByteString): ByteString {
  return `${key}\0`
}
