// Opens a database with the learner's options, records sightings, and asks for those of some days.

import { observedDatabase, outcome } from '../../support/observed-database.mjs'

export default async function harness(record, { sightings, question }, { directory, module }) {
  const { options, seen } = module
  const encoding = options?.keyEncoding?.name
  if (typeof seen !== 'function' || encoding !== 'bytewise')
    return { hasSeen: typeof seen === 'function', encoding }

  const db = await observedDatabase(directory, [], options)
  for (const sighting of sightings) await record(db, ...sighting)
  const keys = await db.keys().all()
  db.forget()
  const returned = await seen(db, ...question)
  return { hasSeen: true, encoding, keys, ...(await outcome(db, returned)) }
}
