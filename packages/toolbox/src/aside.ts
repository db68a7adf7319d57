import { parentOf } from './hooks.js'
import type { AnyLevel } from './level-like.js'
import { beneath } from './view.js'

/** Whether something is a name that users may give to what a part keeps: it becomes a part of the name of a sublevel. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z0-9_-]+$/.test(name)
}

/**
 * Where a part keeps what it stores for `db`: beside a sublevel, so that what it stores is not among the sublevel's own
 * keys; within a database that is none, where there is no beside.
 *
 * `users` has `users.index` beside it. Names of sublevels are ASCII; `suffix` must be, too. What is kept for a view is where that
 * of the database beneath is.
 */
export function asideOf(owner: AnyLevel, suffix: string): AnyLevel {
  const db = beneath(owner)
  const parent = parentOf(db)
  if (parent == null) return db.sublevel(suffix) as unknown as AnyLevel

  const path = (db as unknown as { path(local: boolean): string[] }).path(true)
  const name = path[path.length - 1] as string
  return parent.sublevel([...path.slice(0, -1), `${name}.${suffix}`]) as unknown as AnyLevel
}
