// Databases in separate directories, closed and removed after the test.

import { LmdbLevel } from 'terrace-lmdb'
import { belongingsOf, temporaryDirectory } from '../../../../terrace/test/support/databases.js'

export { pause, temporaryDirectory } from '../../../../terrace/test/support/databases.js'

/** A database, not yet open, in `location` or a new directory. */
export function newLevel(t, options, location = temporaryDirectory(t)) {
  const db = new LmdbLevel(location, options)
  belongingsOf(t).databases.push(db)
  return db
}

/** An open database in `location` or a new directory. */
export async function openLevel(t, options, location) {
  const db = newLevel(t, options, location)
  await db.open()
  return db
}
