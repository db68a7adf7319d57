/**
 * Views: databases that show the entries of another one, as those of `ttl()` do, which hide what has expired. Parts that are
 * given a view work on the database beneath, where its writes and all others meet.
 */

import type { Encoded } from './encoded.js'
import type { AnyLevel } from './level-like.js'

/** What parts know of a view. */
export interface View {
  /** The database whose entries it shows. */
  readonly source: AnyLevel
  /**
   * What keys of the root begin with under which it is recorded when entries are hidden; the rest is the entry's key, as the
   * source has it.
   */
  readonly recordsPrefix: string
  /** Whether the entry of a key, as the source has it, is hidden by now. Within a prewrite hook, as of earlier writes. */
  isHidden(key: Encoded): boolean
}

const views = new WeakMap<AnyLevel, View>()

/** Makes known that a database is a view. */
export function addView(db: AnyLevel, view: View): void {
  views.set(db, view)
}

/** What there is to know of a view; undefined for a database that is none. */
export function viewOf(db: AnyLevel): View | undefined {
  return views.get(db)
}

/** The database whose entries a view shows; of one that is no view, itself. */
export function beneath(db: AnyLevel): AnyLevel {
  return views.get(db)?.source ?? db
}
