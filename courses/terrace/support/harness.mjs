// The harness of exercises whose function gets a database, and what it is to work on.

import { observedDatabase, outcome } from './observed-database.mjs'

/**
 * @param {(db: import('terrace').Level, ...inputs: unknown[]) => unknown} called - The learner's function.
 * @param {{ entries?: Array<[unknown, unknown]>, inputs?: unknown[], options?: object }} data
 */
export default async function harness(called, { entries, inputs = [], options }, { directory }) {
  const db = await observedDatabase(directory, entries, options)
  return outcome(db, await called(db, ...inputs))
}
