/** The pools of this process: one for each target, shared by the databases that are open there. */

import type { SessionOptions } from './dialect.js'
import { Pool } from './pool.js'
import type { Target } from './target.js'

interface Shared {
  readonly pool: Pool
  /** What each database that uses the pool wants its size to be. */
  readonly sizes: Map<object, number>
}

const pools = new Map<string, Shared>()

/** What a pool is for. Databases with equal ones share it. */
export function poolKey(target: Target, session: SessionOptions): string {
  return `${target.key} ${session.waitForSync} ${session.lockWaitSeconds}`
}

/** The pool for a target, with room for `size` connections at least. `user` must leave it. */
export function joinPool(user: object, target: Target, session: SessionOptions, size: number): Pool {
  const key = poolKey(target, session)
  let shared = pools.get(key)
  if (shared === undefined) {
    shared = { pool: new Pool(target, session), sizes: new Map() }
    pools.set(key, shared)
  }
  shared.sizes.set(user, size)
  shared.pool.resize(Math.max(...shared.sizes.values()))
  return shared.pool
}

/** Ends the pool if no other database uses it. */
export function leavePool(user: object, target: Target, session: SessionOptions): void {
  const key = poolKey(target, session)
  const shared = pools.get(key)
  if (!shared?.sizes.delete(user)) return
  if (shared.sizes.size > 0) {
    shared.pool.resize(Math.max(...shared.sizes.values()))
    return
  }
  pools.delete(key)
  shared.pool.end()
}
