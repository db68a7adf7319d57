/** Deletes the keys of a range in transactions of limited size. */

import type { Bytes, RangeDeletion, StoredBound } from 'terrace-core'
import type { Committer } from './committer.js'
import { isTooLarge } from './failures.js'
import { condition, ranges } from './keys.js'
import { type Binary, binaryOf } from './literals.js'
import type { Pool } from './pool.js'
import { onAnyHost } from './reads.js'
import { now } from './time.js'

/** How many keys one transaction deletes. Fewer if the server finds that too large: it keeps deleted rows until the commit. */
const KEYS = 1000

/** What a clear uses. */
export interface Clearing {
  readonly pool: Pool
  readonly committer: Committer
  readonly table: string
  readonly n: number
  readonly deadlineMs: number
}

/**
 * Deletes all keys of a range. Each transaction deletes up to a key that was determined beforehand, rather than a number of keys,
 * so that it can be retried.
 */
export async function clearRange(clearing: Clearing, deletion: RangeDeletion): Promise<void> {
  const { pool, committer, table, n, deadlineMs } = clearing
  const range = ranges.of(deletion)
  let keys = KEYS
  for (let lower = range.lower, isDone = false; !isDone; ) {
    const end = now() + deadlineMs
    const left = condition(n, { lower, upper: range.upper })
    const next = await onAnyHost(pool, end, async (connection) => {
      const rows = await connection.rows(
        `SELECT k FROM ${table} WHERE ${left} ORDER BY k LIMIT ${keys},1`,
        end
      )
      return rows[0]?.[0] as Buffer | undefined
    })
    const bound: StoredBound<Binary> | undefined =
      next === undefined ? undefined : { key: binaryOf(next), isIncluded: false }
    const part = condition(n, { lower, upper: bound ?? range.upper })
    try {
      await committer.commit(() => [`DELETE FROM ${table} WHERE ${part}`], end)
    } catch (error) {
      if (keys === 1 || !isTooLarge(error)) throw error
      keys >>= 1
      continue
    }
    isDone = bound === undefined
    if (bound !== undefined) lower = { key: bound.key, isIncluded: true }
  }
}

/** Deletes keys in one transaction. */
type DeleteKeys = (keys: Map<Binary, null>) => Promise<void>

/** Deletes keys in one transaction, or in halves if the server finds that too large. */
export async function deleteInParts(keys: readonly Bytes[], deleteKeys: DeleteKeys): Promise<void> {
  try {
    await deleteKeys(new Map(keys.map((key) => [binaryOf(key), null])))
  } catch (error) {
    if (keys.length === 1 || !isTooLarge(error)) throw error
    const half = keys.length >> 1
    await deleteInParts(keys.slice(0, half), deleteKeys)
    await deleteInParts(keys.slice(half), deleteKeys)
  }
}
