// Records sightings, then asks both kinds of questions, and notes what each call did.

import { observedDatabase } from '../../support/observed-database.mjs'

export default async function harness(record, { sightings, place, bird }, { directory, module }) {
  const missing = ['birdsAt', 'placesOf'].find((name) => typeof module[name] !== 'function')
  if (missing !== undefined) return { missing }

  const db = await observedDatabase(directory)
  for (const sighting of sightings) await record(db, sighting)
  const { writes } = db.observed
  const ask = async (question, name) => {
    db.forget()
    const returned = await question(db, name)
    const { reads, cursors, snapshots } = db.observed
    return structuredClone({ returned, reads, cursors, snapshots })
  }
  const answers = {
    birdsAt: await ask(module.birdsAt, place),
    placesOf: await ask(module.placesOf, bird)
  }
  await db.close()
  return { writes: writes.map(({ operations }) => operations.map(({ key }) => key)), answers }
}
