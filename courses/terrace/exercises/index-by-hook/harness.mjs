// Writes birds in several ways while the learner's hook keeps the index, and notes what each way has done.

import { observedDatabase } from '../../support/observed-database.mjs'

/** A key that nobody else uses. */
const NO_BIRD = 'no bird'

export default async function harness(keepIndex, { entries, steps }, { directory }) {
  const db = await observedDatabase(directory, entries)
  const birds = db.sublevel('birds', { valueEncoding: 'json' })
  const byPlace = db.sublevel('byPlace')
  await Promise.all([birds.open(), byPlace.open()])
  await keepIndex(birds, byPlace)

  const outcomes = []
  for (const { way, operations } of steps) {
    db.forget()
    const error = await write({ db, birds }, way, operations).catch(
      ({ message, cause }) => cause?.message ?? message
    )
    await settled(db)
    const writes = db.observed.writes.map(({ operations: all }) => all.filter(({ key }) => key !== NO_BIRD))
    const stored = await db.contents()
    outcomes.push({ way, error, writes: writes.filter(({ length }) => length > 0), stored })
    if (error !== undefined) break
  }
  await db.close()
  return outcomes
}

/** Waits until what the learner's functions have begun to write is written: writes take effect in the order of the calls. */
async function settled(db) {
  await new Promise(setImmediate)
  await db.del(NO_BIRD)
}

async function write({ db, birds }, way, operations) {
  const [{ key, value } = {}] = operations
  if (way === 'put') await birds.put(key, value)
  else if (way === 'del') await birds.del(key)
  else if (way === 'batch') await birds.batch(operations)
  else if (way === 'sublevel') await db.batch(operations.map((each) => ({ ...each, sublevel: birds })))
  else await birds.clear()
}
