/** The limits of keys, and their ranges in SQL. */

import { type Bytes, type StoredRange, StoredRanges } from 'terrace-core'
import { mysqlError } from './errors.js'
import { type Binary, binaryOf, literal } from './literals.js'

/** The maximum size of a key, in bytes: InnoDB's index allows 3,072, and the database's number takes 4. */
export const MAX_KEY_SIZE_BYTES = 3068

/** The bytes of a key to write. @throws LEVEL_KEY_TOO_LARGE */
export function storedKey(key: Bytes): Binary {
  const stored = binaryOf(key)
  if (stored.length <= MAX_KEY_SIZE_BYTES) return stored
  throw mysqlError(
    'LEVEL_KEY_TOO_LARGE',
    `The key has ${stored.length} bytes; a database in MySQL takes at most ${MAX_KEY_SIZE_BYTES}, with the names of its sublevels`
  )
}

/** Ranges of keys as they are stored. */
export const ranges = new StoredRanges<Binary>({
  stored: binaryOf,
  shortened: (key) => (key.length > MAX_KEY_SIZE_BYTES ? key.slice(0, MAX_KEY_SIZE_BYTES) : undefined),
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0)
})

/** The SQL condition for keys of database `n` within a range. */
export function condition(n: number, { lower, upper }: StoredRange<Binary>): string {
  let sql = `n=${n}`
  if (lower !== undefined) sql += ` AND k${lower.isIncluded ? '>=' : '>'}${literal(lower.key)}`
  if (upper !== undefined) sql += ` AND k${upper.isIncluded ? '<=' : '<'}${literal(upper.key)}`
  return sql
}
