/**
 * The keys of index entries, in the encoding of terrace-bytewise, so that they sort as the indexed values do.
 *
 * - Of an index that is not unique: `[value, primary key]`; nothing is stored with it.
 * - Of a unique one: `[value]`, with the primary key as what is stored. So one read tells who has a value.
 */

import { Bound, decode, encode, lower, upper } from 'terrace-bytewise'
import { indexError } from './errors.js'
import type { IndexRange } from './options.js'

/** A unique index has no primary keys in those of entries. */
const NO_KEY = new Uint8Array(0)

type Encodable = Parameters<typeof encode>[0]

/**
 * The key of the entry for an indexed value of the record with the primary key `primary`.
 *
 * @throws what terrace-bytewise throws for what is no key
 */
export function entryKey(unique: boolean, value: unknown, primary: Uint8Array): Uint8Array {
  // At the end of an array a bound can be encoded, but is no value.
  if (value instanceof Bound) throw new TypeError('A bound is no value')
  return encode((unique ? [value] : [value, primary]) as Encodable)
}

/** An entry that was read. */
export interface Entry {
  /** Its own key. */
  readonly bytes: Uint8Array
  /** The indexed value. */
  readonly indexed: unknown
  /** The primary key. */
  readonly primary: Uint8Array
}

/**
 * An entry of what is stored.
 *
 * @throws what terrace-bytewise throws for damaged bytes, a TypeError for a key that no entry has
 */
export function entryOf(unique: boolean, bytes: Uint8Array, stored: Uint8Array | undefined): Entry {
  const parts = decode(bytes)
  if (!Array.isArray(parts) || parts.length !== (unique ? 1 : 2)) throw new TypeError('No key of an entry')
  const primary = unique ? stored : parts[1]
  if (!(primary instanceof Uint8Array)) throw new TypeError('An entry without a primary key')
  return { bytes, indexed: parts[0], primary }
}

/**
 * The key of the entry that a value has in a unique index.
 *
 * @throws TOOLBOX_INDEX_RANGE for what is no key
 */
export function uniqueEntryKey(index: string, value: unknown): Uint8Array {
  try {
    return entryKey(true, value, NO_KEY)
  } catch (cause) {
    throw indexError('TOOLBOX_INDEX_RANGE', index, `no value: ${(cause as Error).message}`, cause)
  }
}

/** A range of entry keys. */
export interface EntryRange {
  gte?: Uint8Array
  lt?: Uint8Array
}

/**
 * The range of entry keys that a query is for.
 *
 * @throws TOOLBOX_INDEX_RANGE
 */
export function entryRange(index: string, options: IndexRange): EntryRange {
  const { equals, prefix, gt, gte, lt, lte } = options
  const invalid = (message: string, cause?: unknown) =>
    indexError('TOOLBOX_INDEX_RANGE', index, message, cause)
  const isBounded = [gt, gte, lt, lte].some((bound) => bound !== undefined)
  if (Number(equals !== undefined) + Number(prefix !== undefined) + Number(isBounded) > 1)
    throw invalid("a query has 'equals', or 'prefix', or bounds")

  try {
    if (equals !== undefined) return { gte: before(equals), lt: behind(equals) }
    if (prefix !== undefined) {
      return { gte: encode([lower(prefix as never)] as never), lt: encode([upper(prefix as never)] as never) }
    }
    const range: EntryRange = {}
    if (gte !== undefined) range.gte = before(gte)
    else if (gt !== undefined) range.gte = behind(gt)
    if (lte !== undefined) range.lt = behind(lte)
    else if (lt !== undefined) range.lt = before(lt)
    return range
  } catch (cause) {
    throw invalid(`no range: ${(cause as Error).message}`, cause)
  }
}

/** Before all entries of `value`. */
function before(value: unknown): Uint8Array {
  return encode((value instanceof Bound ? [value] : lower([value] as never)) as Encodable)
}

/** Behind all entries of `value`. */
function behind(value: unknown): Uint8Array {
  return encode((value instanceof Bound ? [value] : upper([value] as never)) as Encodable)
}
