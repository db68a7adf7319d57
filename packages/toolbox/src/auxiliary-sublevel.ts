import { parentOf } from './hooks.js'
import type { AnyLevel } from './level-like.js'
import { sourceOf } from './view.js'

/** Whether a value is a valid name for what users let a part store. It becomes a part of a sublevel's name. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z0-9_-]+$/.test(name)
}

/**
 * The sublevel in which a part keeps what it stores for `db`. For a sublevel it lies next to that sublevel, so that its keys
 * are not among the sublevel's own. For a root database, which has nothing next to it, it lies within.
 *
 * For example, `users.index` lies next to `users`. Names of sublevels are ASCII, so `suffix` must be, too. A view uses the same
 * auxiliary sublevel as the database whose entries it shows.
 */
export function auxiliarySublevelOf(owner: AnyLevel, suffix: string): AnyLevel {
  const db = sourceOf(owner)
  const parent = parentOf(db)
  if (parent == null) return db.sublevel(suffix) as unknown as AnyLevel

  const path = (db as unknown as { path(local: boolean): string[] }).path(true)
  const name = path[path.length - 1] as string
  return parent.sublevel([...path.slice(0, -1), `${name}.${suffix}`]) as unknown as AnyLevel
}
