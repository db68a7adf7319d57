import { type ByteString, byteString } from '../encoded.js'
import { codedError } from '../errors.js'
import { keyEncodingOf, prefixOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { viewOf } from '../view.js'
import type { KeyRange, RangeOptions } from './key-range.js'

/** Where the keys of a database or sublevel are among those of its root. */
export interface KeySpace {
  readonly db: AnyLevel
  /** What all its keys begin with: nothing for a root. */
  readonly prefix: ByteString
  /** Its keys are less than this; undefined for a root. */
  readonly end: ByteString | undefined
  /** Of a view: what the keys begin with of records that say which entries are hidden; then comes the entry's key. */
  readonly records: ByteString | undefined
}

const spaces = new WeakMap<AnyLevel, KeySpace>()

/** The key space of a database or sublevel. */
export function keySpaceOf(db: AnyLevel): KeySpace {
  let space = spaces.get(db)

  if (space === undefined) {
    const prefix = prefixOf(db)
    space = { db, prefix, end: endOf(prefix), records: viewOf(db)?.recordsPrefix }
    spaces.set(db, space)
  }

  return space
}

/**
 * The key as the root has it.
 *
 * @throws LEVEL_INVALID_KEY; what the encoding throws.
 */
export function fullKey(space: KeySpace, key: unknown, encoding: unknown): ByteString {
  if (key === null || key === undefined) {
    throw codedError('LEVEL_INVALID_KEY', 'Key cannot be null or undefined')
  }

  return space.prefix + byteString(keyEncodingOf(space.db, encoding).encode(key))
}

/** The range that options of an iterator name, among the keys of the root. */
export function fullRange(space: KeySpace, options: RangeOptions, encoding: unknown): KeyRange {
  const { encode } = keyEncodingOf(space.db, encoding)
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

/** The prefix ends with the separator; names have greater bytes, so this is behind every key and before siblings. */
function endOf(prefix: string): string | undefined {
  if (prefix === '') return undefined
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}
