// Has two reports printed while others write: one to its end, and one by a printer that fails.

import { observedDatabase } from '../../support/observed-database.mjs'

const FAILURE = 'The printer is out of paper'

export default async function harness(report, { entries, changes, printable }, { directory }) {
  const db = await observedDatabase(directory, entries, { valueEncoding: 'json' })
  const whole = await observe(db, report, changes, Number.POSITIVE_INFINITY)
  const failing = await observe(db, report, changes, printable)
  await db.close()
  return { whole, failing }
}

async function observe(db, report, changes, printable) {
  db.forget()
  const lines = []
  const print = async (line) => {
    if (lines.length === printable) throw new Error(FAILURE)
    await db.batch(changes[lines.length % changes.length])
    lines.push(line)
  }
  let hasFailed = false
  try {
    await report(db, print)
  } catch (error) {
    if (error?.message !== FAILURE) throw error
    hasFailed = true
  }
  const { reads, cursors, snapshots } = db.observed
  return structuredClone({ lines, hasFailed, reads, cursors, snapshots })
}
