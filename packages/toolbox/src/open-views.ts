/** The open views, by the keys that they show. There is one at a time, whichever object of a sublevel it was made from. */

import { prefixOf, rootOf } from './hooks.js'
import type { AnyLevel } from './level-like.js'

const opened = new WeakMap<AnyLevel, Map<string, AnyLevel>>()

/** Notes that a view of a database is open. If another one is open already, does nothing and returns false. */
export function openView(source: AnyLevel, view: AnyLevel): boolean {
  const root = rootOf(source)
  const prefix = prefixOf(source)
  const ofRoot = opened.get(root) ?? new Map<string, AnyLevel>()
  if (ofRoot.has(prefix)) return false

  opened.set(root, ofRoot.set(prefix, view))
  return true
}

/** Notes that a view is no longer open. */
export function closeView(source: AnyLevel, view: AnyLevel): void {
  const ofRoot = opened.get(rootOf(source))
  if (ofRoot?.get(prefixOf(source)) === view) ofRoot.delete(prefixOf(source))
}

/** The open view of the keys of a database, if there is one. */
export function openViewOf(db: AnyLevel): AnyLevel | undefined {
  return opened.get(rootOf(db))?.get(prefixOf(db))
}
