// Calls the learner's function with work that succeeds and with work that fails, and opens the database after each.

import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Level } from 'terrace'

export default async function harness(withDatabase, { bird, failure }, { directory }) {
  return {
    succeeding: await attempt(withDatabase, join(directory, 'succeeding'), () => bird),
    failing: await attempt(withDatabase, join(directory, 'failing'), () => {
      throw new Error(failure)
    })
  }
}

/** What becomes of one call. `statusAtWork` is missing if the work was not called with a database in `location`. */
async function attempt(withDatabase, location, end) {
  const told = {}
  let db
  const work = async (given) => {
    db = given
    if (db?.location === location) told.statusAtWork = db.status
    await setImmediate()
    told.statusWithinWork = db?.status
    return end()
  }
  // Work that nobody waits for must not end the process when it fails.
  const call = (given) => {
    const working = work(given)
    working.catch(() => {})
    return working
  }

  try {
    told.returned = await withDatabase(location, call)
  } catch (error) {
    told.error = error.message
  }
  told.statusAfterwards = db?.status
  told.isLocked = await isLocked(location)
  return told
}

async function isLocked(location) {
  const db = new Level(location)
  try {
    await db.open()
    return false
  } catch (error) {
    if (error.cause?.code === 'LEVEL_LOCKED') return true
    throw error
  } finally {
    await db.close()
  }
}
