// Calls both functions of the learner's module with one database, and tells which reads each of them made.

import { observedDatabase, outcome } from '../../support/observed-database.mjs'

export default async function harness(notes, { entries, birds }, { directory, module: { isKnown } }) {
  const db = await observedDatabase(directory, entries)
  const returned = await notes(db, birds)
  const { reads, cursors } = db.observed
  db.forget()
  if (typeof isKnown !== 'function') return { returned, reads, cursors }

  const known = []
  for (const bird of birds) known.push(await isKnown(db, bird))
  return { returned, reads, cursors, known: await outcome(db, known) }
}
