/**
 * Views: databases that show the entries of another database. Those of `ttl()` hide expired entries. A part of the toolbox
 * that is given a view works on the database below it, which receives all writes, through the view or not.
 */

import type { Encoded } from './encoded.js'
import type { AnyLevel } from './level-like.js'

/** What parts of the toolbox need to know about a view. */
export interface View {
  /** The database whose entries the view shows. */
  readonly source: AnyLevel
  /**
   * The prefix, in the root, of the records that determine when entries are hidden. The entry's key in terms of the source
   * follows it.
   */
  readonly recordsPrefix: string
  /**
   * Whether the entry of a key, in the form of the source, is hidden now. In a prewrite hook, this reflects the earlier
   * writes.
   */
  isHidden(key: Encoded): boolean
  /** The same outside hooks. */
  isHiddenNow(key: Encoded): boolean | Promise<boolean>
}

const views = new WeakMap<AnyLevel, View>()

/** Registers a database as a view. */
export function addView(db: AnyLevel, view: View): void {
  views.set(db, view)
}

/** Returns the view that a database is; undefined if it is not one. */
export function viewOf(db: AnyLevel): View | undefined {
  return views.get(db)
}

/** The database whose entries a view shows; for any other database, itself. */
export function sourceOf(db: AnyLevel): AnyLevel {
  return views.get(db)?.source ?? db
}
