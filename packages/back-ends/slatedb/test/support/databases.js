// Databases in directories, in memory or in a store, closed and removed after the test.

import { SlateLevel } from 'terrace-slatedb'
import { belongingsOf, temporaryDirectory } from '../../../../terrace/test/support/databases.js'

export { pause, temporaryDirectory } from '../../../../terrace/test/support/databases.js'

/** Writes wait for none, so that tests are short. Each is in the store before it is acknowledged all the same. */
export const SOON = { flushIntervalMs: 0 }

/** A database, not yet open, in `location` or a new directory. */
export function newLevel(t, options, location = temporaryDirectory(t)) {
  const db = new SlateLevel(location, { ...SOON, ...options })
  belongingsOf(t).databases.push(db)
  return db
}

/** An open database in `location` or a new directory. */
export async function openLevel(t, options, location) {
  const db = newLevel(t, options, location)
  await db.open()
  return db
}
