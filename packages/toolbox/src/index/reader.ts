/** Queries: the entries of a range with the values of their records, all from the same state. */

import type { AbstractSnapshot } from 'abstract-level'
import type { AnyLevel } from '../level-like.js'
import { viewOf } from '../view.js'
import { type Entry, type EntryRange, entryOf, entryRange } from './entry-keys.js'
import type { EntryWriter } from './entry-writer.js'
import { indexError } from './errors.js'
import type { IndexHook } from './index-hook.js'
import type { IndexRange } from './options.js'

const DEFAULT_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 10_000

/** A checked query. */
export interface Query {
  readonly range: EntryRange
  readonly reverse: boolean
  readonly limit: number
  readonly pageSize: number
}

/** A record that was found. */
export interface Found {
  readonly key: unknown
  /** Undefined if values are not read. */
  readonly value: unknown
  readonly indexed: unknown
}

/**
 * Checks the options of a query.
 *
 * @throws TOOLBOX_INDEX_RANGE if an option is not valid.
 */
export function queryOf(index: string, options: IndexRange): Query {
  const { reverse = false, limit = Infinity, pageSize = DEFAULT_PAGE_SIZE } = options
  const invalid = (message: string) => indexError('TOOLBOX_INDEX_RANGE', index, message)
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0)) {
    throw invalid("the option 'limit' must be a whole number, 0 or above")
  }
  if (typeof reverse !== 'boolean') throw invalid("the option 'reverse' must be a boolean")
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
    throw invalid(`the option 'pageSize' must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
  }
  return { range: entryRange(index, options), reverse, limit, pageSize }
}

/** What is queried: an index, and the database or view from which its records are read. */
export interface Queried {
  readonly hook: IndexHook
  readonly writer: EntryWriter
  readonly db: AnyLevel
}

/** Reads the entries of a query, in pages. */
export async function* entryPages(
  { definition, entries }: EntryWriter,
  { range, reverse, pageSize }: Query,
  snapshot: AbstractSnapshot | undefined
): AsyncGenerator<Entry[], void> {
  const options = { ...range, reverse, keyEncoding: 'buffer', valueEncoding: 'buffer', snapshot }
  const iterator = entries.iterator({ ...options, values: definition.unique })
  try {
    while (true) {
      const page = (await iterator.nextv(pageSize)) as Array<[Uint8Array, Uint8Array | undefined]>
      if (page.length === 0) return
      yield page.flatMap(([key, stored]) => readable(definition.unique, key, stored))
    }
  } finally {
    await iterator.close()
  }
}

/** The entry that stored bytes stand for. Unreadable entries are left out; `verify()` counts them. */
function readable(unique: boolean, key: Uint8Array, stored: Uint8Array | undefined): Entry[] {
  try {
    return [entryOf(unique, key, stored)]
  } catch {
    return []
  }
}

/**
 * Yields the records of a query. Each is checked against its value if that is read. Values are always read on databases where
 * an entry may be stale, and through a view, which may hide the record.
 */
export async function* find(
  { hook, writer, db }: Queried,
  query: Query,
  needsValues: boolean
): AsyncGenerator<Found, void> {
  const snapshot = snapshotOf(hook)
  const readsValues = needsValues || !hook.isExact || viewOf(db) !== undefined
  let left = query.limit
  try {
    if (left === 0) return
    const limited = { ...query, pageSize: Math.min(query.pageSize, left) }
    for await (const entries of entryPages(writer, limited, snapshot)) {
      const values = readsValues ? await valuesOf(db, entries, snapshot) : undefined
      for (const [index, { bytes, indexed, primary }] of entries.entries()) {
        const value = values?.[index]
        if (values !== undefined && !writer.has(value, primary, bytes)) continue
        yield { key: hook.space.decodeKey(primary), value, indexed }
        if (--left === 0) return
      }
    }
  } finally {
    await snapshot?.close()
  }
}

/** Finds the record that has `indexed` in a unique index; `entry` is the key of its entry. */
export async function findOne(
  { hook, writer, db }: Queried,
  entry: Uint8Array,
  indexed: unknown
): Promise<Found | undefined> {
  const snapshot = snapshotOf(hook)
  try {
    const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer', snapshot }
    const primary = (await writer.entries.get(entry, bytes)) as Uint8Array | undefined
    if (primary === undefined) return undefined
    const value: unknown = await db.get(primary, { keyEncoding: 'buffer', snapshot })
    if (!writer.has(value, primary, entry)) return undefined
    return { key: hook.space.decodeKey(primary), value, indexed }
  } finally {
    await snapshot?.close()
  }
}

/** A snapshot of the current state to read from, if the database has snapshots. */
export function snapshotOf({ space: { db } }: IndexHook): AbstractSnapshot | undefined {
  return db.supports.explicitSnapshots ? db.snapshot() : undefined
}

/** The values of entries' records. */
async function valuesOf(
  db: AnyLevel,
  entries: readonly Entry[],
  snapshot: AbstractSnapshot | undefined
): Promise<unknown[]> {
  const keys = entries.map(({ primary }) => primary)
  return db.getMany(keys, { keyEncoding: 'buffer', snapshot })
}
