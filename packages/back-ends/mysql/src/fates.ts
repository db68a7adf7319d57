/**
 * Transactions of this process whose fate is not known. They are decided before a database is opened there again, so that none is
 * committed over what is written later.
 */

import { mysqlError } from './errors.js'
import { isHostDown, translated } from './failures.js'
import { decide, type Mark } from './marks.js'
import type { Pool } from './pool.js'
import { now, pause, until } from './time.js'

const PAUSE_MS = 50

/** The undecided marks of each table. */
const undecided = new Map<string, Mark[]>()

/** Where transactions are decided. */
export interface Registry {
  readonly pool: Pool
  readonly table: string
  /** The same for all databases of this process in the same tables. */
  readonly key: string
}

/**
 * Finds out whether a transaction was committed, on whatever host answers, and makes sure that it will not be later.
 *
 * @throws LEVEL_COMMIT_UNKNOWN if no host can tell until `end`. The mark is then kept for {@link decideAll}.
 */
export async function fateOf(registry: Registry, mark: Mark, end: number, cause: unknown): Promise<boolean> {
  try {
    return await decided(registry, mark, end)
  } catch (error) {
    const marks = undecided.get(registry.key) ?? []
    undecided.set(registry.key, [...marks, mark])
    throw commitUnknown(cause ?? error)
  }
}

export function commitUnknown(cause: unknown): Error {
  return mysqlError(
    'LEVEL_COMMIT_UNKNOWN',
    'The connection broke during COMMIT, and no host could report the outcome: writes are refused until you close the database and open it again, which decides it',
    cause
  )
}

async function decided({ pool, table }: Registry, mark: Mark, end: number): Promise<boolean> {
  for (;;) {
    const connection = await pool.acquire('operation', end)
    let lastError: unknown
    try {
      // A host that hangs must leave time for the others.
      const fate = await decide(connection, table, mark, now() + until(end) / pool.hostCount)
      if (fate !== undefined) return fate
    } catch (error) {
      lastError = error
      if (connection.isBroken || isHostDown(error)) pool.hostFailed(connection.host)
    } finally {
      pool.release(connection)
    }
    if (until(end) <= PAUSE_MS) throw translated(lastError)
    await pause(PAUSE_MS)
  }
}

/** Decides what this process left undecided. @throws LEVEL_COMMIT_UNKNOWN */
export async function decideAll(registry: Registry, end: number): Promise<void> {
  const marks = undecided.get(registry.key) ?? []
  undecided.delete(registry.key)
  for (const [i, mark] of marks.entries()) {
    try {
      await decided(registry, mark, end)
    } catch (error) {
      undecided.set(registry.key, [...(undecided.get(registry.key) ?? []), ...marks.slice(i)])
      throw commitUnknown(translated(error))
    }
  }
}
