import type { ByteString } from '../encoded.js'
import type { OwnWrite } from './own-writes.js'

/** An entry of the database, with its key as the root has it. */
export interface StoredEntry {
  readonly key: ByteString
  readonly value: unknown
}

/** Entries of the database in order, some at a time; an empty array at the end. */
export type ReadEntries = () => Promise<StoredEntry[]>

/**
 * Merges entries of the database with own writes, both in the same order. Own writes replace stored entries; those that
 * delete are left out.
 */
export async function* merged(
  read: ReadEntries,
  own: readonly OwnWrite[],
  reverse: boolean
): AsyncGenerator<StoredEntry | OwnWrite, void, undefined> {
  const before = (a: ByteString, b: ByteString): boolean => (reverse ? a > b : a < b)
  let next = 0

  for (let entries = await read(); entries.length > 0; entries = await read()) {
    for (const entry of entries) {
      for (let write = own[next]; write !== undefined && before(write.key, entry.key); write = own[++next]) {
        if (write.value !== undefined) yield write
      }

      if (own[next]?.key !== entry.key) yield entry
    }
  }

  for (let write = own[next]; write !== undefined; write = own[++next]) {
    if (write.value !== undefined) yield write
  }
}
