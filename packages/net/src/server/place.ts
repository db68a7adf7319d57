/** Where a database's keys are: the database that it is a sublevel of, and what its keys begin with there. */

import { identityOf } from '../transport/identity.js'
import type { AnyLevel } from './served-database.js'

/** What abstract-level's sublevels have. */
interface Placed {
  readonly parent?: AnyLevel | null
  readonly prefix?: string
}

/** Whether a database is a whole one, and no sublevel. */
export function isRoot(db: AnyLevel): boolean {
  return rootOf(db) === db
}

/** The identity of the database that this is, or is a sublevel of; undefined if that has no directory. */
export function databaseOf(db: AnyLevel): string | undefined {
  const { location } = rootOf(db) as { location?: unknown }
  if (typeof location !== 'string') return undefined
  try {
    return identityOf(location)
  } catch {
    // It has a location of another kind.
    return undefined
  }
}

/** The database that a sublevel is in, at whatever depth; for any other database, itself. */
export function rootOf(db: AnyLevel): AnyLevel {
  let root = db
  for (let next = placed(db).parent; next != null; next = placed(next).parent) root = next
  return root
}

/** What the keys of a database begin with in its root. */
export function prefixOf(db: AnyLevel): Buffer {
  return Buffer.from(placed(db).prefix ?? '')
}

/** What the keys of `inner` begin with in `outer`; undefined if they are not keys of `outer`. */
export function prefixWithin(outer: AnyLevel, inner: AnyLevel): Buffer | undefined {
  const [before, whole] = [prefixOf(outer), prefixOf(inner)]
  const isWithin = rootOf(outer) === rootOf(inner) && whole.subarray(0, before.length).equals(before)
  return isWithin ? whole.subarray(before.length) : undefined
}

function placed(db: AnyLevel): Placed {
  return db as unknown as Placed
}
