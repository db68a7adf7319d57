/** The limits of keys, and the ranges of them that SQL is asked for. */

import type { Bytes, Range } from 'terrace-core'
import { mysqlError } from './errors.js'
import { type Binary, binaryOf, literal } from './literals.js'

/** The longest key, in bytes: InnoDB's index takes 3,072, of which the number of the database is 4. */
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

/** One end of a range. */
export interface Bound {
  readonly key: Binary
  readonly isIncluded: boolean
}

/** A range of keys as they are stored. Without a bound, it is open. */
export interface StoredRange {
  readonly lower: Bound | undefined
  readonly upper: Bound | undefined
}

export function storedRange({ gte, gt, lte, lt }: Range): StoredRange {
  const lower = gte ?? gt
  const upper = lte ?? lt
  return {
    lower: lower === undefined ? undefined : bound(lower, gte !== undefined, false),
    upper: upper === undefined ? undefined : bound(upper, lte !== undefined, true)
  }
}

/** No key is as long as a bound may be: after a bound come the keys after its beginning, which could be a key. */
function bound(bytes: Bytes, isIncluded: boolean, isUpper: boolean): Bound {
  const key = binaryOf(bytes)
  if (key.length <= MAX_KEY_SIZE_BYTES) return { key, isIncluded }
  return { key: key.slice(0, MAX_KEY_SIZE_BYTES), isIncluded: isUpper }
}

/** Whether a key lies within a range. */
export function contains({ lower, upper }: StoredRange, key: Binary): boolean {
  return (
    (lower === undefined || key > lower.key || (key === lower.key && lower.isIncluded)) &&
    (upper === undefined || key < upper.key || (key === upper.key && upper.isIncluded))
  )
}

/** The condition of SQL that a key of database `n` lies within a range. */
export function condition(n: number, { lower, upper }: StoredRange): string {
  let sql = `n=${n}`
  if (lower !== undefined) sql += ` AND k${lower.isIncluded ? '>=' : '>'}${literal(lower.key)}`
  if (upper !== undefined) sql += ` AND k${upper.isIncluded ? '<=' : '<'}${literal(upper.key)}`
  return sql
}
