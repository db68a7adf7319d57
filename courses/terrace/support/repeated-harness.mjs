// The harness of exercises whose function is called several times with one database.

import { observedDatabase, outcome } from './observed-database.mjs'

/**
 * @param {(db: import('terrace').Level, ...inputs: unknown[]) => unknown} called - The learner's function.
 * @param {{ entries?: Array<[unknown, unknown]>, calls: unknown[][], options?: object }} data - `calls` has the inputs of each call.
 * @returns What `outcome` returns; `returned` has what each call returned, and `writesOf` the writes of each.
 */
export default async function harness(called, { entries, calls, options }, { directory }) {
  const db = await observedDatabase(directory, entries, options)
  const returned = []
  const writesOf = []
  for (const inputs of calls) {
    const { length } = db.observed.writes
    returned.push(await called(db, ...inputs))
    writesOf.push(db.observed.writes.slice(length))
  }
  return { ...(await outcome(db, returned)), writesOf }
}
