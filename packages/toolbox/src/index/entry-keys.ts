/**
 * The keys of index entries. They are encoded by terrace-bytewise, so that they sort as the indexed values do.
 *
 * - In an index that is not unique, the key is `[value, primary key]`, and nothing is stored with it.
 * - In a unique index, the key is `[value]`, and the primary key is stored with it. One read therefore tells who has a value.
 */

import { Bound, decode, encode, lower, upper } from 'terrace-bytewise'
import { indexError } from './errors.js'
import type { IndexRange } from './options.js'

/** Stands for the primary key in the keys of a unique index's entries, which have none. */
const NO_KEY = new Uint8Array(0)

type Encodable = Parameters<typeof encode>[0]

/**
 * The key of the entry for an indexed value of the record with the primary key `primary`.
 *
 * @throws the errors of terrace-bytewise if the value cannot be a key.
 */
export function entryKey(unique: boolean, value: unknown, primary: Uint8Array): Uint8Array {
  // terrace-bytewise would encode a bound at the end of an array, but a bound is not a value.
  if (value instanceof Bound) throw new TypeError('A bound is not a value')
  return encode((unique ? [value] : [value, primary]) as Encodable)
}

/** An entry that was read. */
export interface Entry {
  /** The key of the entry itself. */
  readonly bytes: Uint8Array
  /** The indexed value. */
  readonly indexed: unknown
  /** The primary key. */
  readonly primary: Uint8Array
}

/**
 * The entry that stored bytes stand for.
 *
 * @throws the errors of terrace-bytewise if the bytes are damaged, and a TypeError if no entry can have this key.
 */
export function entryOf(unique: boolean, bytes: Uint8Array, stored: Uint8Array | undefined): Entry {
  const parts = decode(bytes)
  if (!Array.isArray(parts) || parts.length !== (unique ? 1 : 2))
    throw new TypeError('This is not the key of an entry')
  const primary = unique ? stored : parts[1]
  if (!(primary instanceof Uint8Array)) throw new TypeError('The entry has no primary key')
  return { bytes, indexed: parts[0], primary }
}

/**
 * The key of the entry for a value in a unique index.
 *
 * @throws TOOLBOX_INDEX_RANGE if the value cannot be a key.
 */
export function uniqueEntryKey(index: string, value: unknown): Uint8Array {
  try {
    return entryKey(true, value, NO_KEY)
  } catch (cause) {
    throw indexError(
      'TOOLBOX_INDEX_RANGE',
      index,
      `this value cannot be queried: ${(cause as Error).message}`,
      cause
    )
  }
}

/** A range of entry keys. */
export interface EntryRange {
  gte?: Uint8Array
  lt?: Uint8Array
}

/**
 * The range of entry keys that a query asks for.
 *
 * @throws TOOLBOX_INDEX_RANGE if the options make no range.
 */
export function entryRange(index: string, options: IndexRange): EntryRange {
  const { equals, prefix, gt, gte, lt, lte } = options
  const invalid = (message: string, cause?: unknown) =>
    indexError('TOOLBOX_INDEX_RANGE', index, message, cause)
  const isBounded = [gt, gte, lt, lte].some((bound) => bound !== undefined)
  if (Number(equals !== undefined) + Number(prefix !== undefined) + Number(isBounded) > 1)
    throw invalid("a query must have only one of 'equals', 'prefix' and bounds")

  try {
    if (equals !== undefined) return { gte: before(equals), lt: after(equals) }
    if (prefix !== undefined) {
      return { gte: encode([lower(prefix as never)] as never), lt: encode([upper(prefix as never)] as never) }
    }
    const range: EntryRange = {}
    if (gte !== undefined) range.gte = before(gte)
    else if (gt !== undefined) range.gte = after(gt)
    if (lte !== undefined) range.lt = after(lte)
    else if (lt !== undefined) range.lt = before(lt)
    return range
  } catch (cause) {
    throw invalid(`this range cannot be queried: ${(cause as Error).message}`, cause)
  }
}

/** The position before all entries of `value`. */
function before(value: unknown): Uint8Array {
  return encode((value instanceof Bound ? [value] : lower([value] as never)) as Encodable)
}

/** The position after all entries of `value`. */
function after(value: unknown): Uint8Array {
  return encode((value instanceof Bound ? [value] : upper([value] as never)) as Encodable)
}
