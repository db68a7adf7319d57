/**
 * Views: databases that show the entries of another database. Those of `ttl()` hide the entries that have expired. A part that
 * is given a view works on the database that the view shows, where writes through the view and all others meet.
 */

import type { Encoded } from './encoded.js'
import type { AnyLevel } from './level-like.js'

/** What parts need to know about a view. */
export interface View {
  /** The database whose entries the view shows. */
  readonly source: AnyLevel
  /**
   * The prefix of the records in the root that say when entries are hidden. After it comes the entry's key, as the source has
   * it.
   */
  readonly recordsPrefix: string
  /**
   * Whether the entry of a key, in the form of the source, is hidden by now. Within a prewrite hook, it is judged by the
   * earlier writes.
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

/** What is known about a view; undefined for a database that is not a view. */
export function viewOf(db: AnyLevel): View | undefined {
  return views.get(db)
}

/** The database whose entries a view shows; for any other database, itself. */
export function sourceOf(db: AnyLevel): AnyLevel {
  return views.get(db)?.source ?? db
}
