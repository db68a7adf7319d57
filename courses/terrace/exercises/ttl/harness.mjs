// Uses a store of sessions as a script says, by a clock that is set forward.

import { observedDatabase, outcome } from '../../support/observed-database.mjs'

/**
 * @param {(db: object, now: () => number) => object} sessionStore
 * @param {{ steps: Array<{ minutes?: number, call?: string, args?: string[] }> }} data - Each step waits, or calls a method.
 * @returns What each step returned, in addition to the usual outcome.
 */
export default async function harness(sessionStore, { steps }, { directory }) {
  const db = await observedDatabase(directory)
  let time = Date.UTC(2026, 4, 1)
  const store = await sessionStore(db, () => time)
  const answers = []
  for (const { minutes = 0, call, args = [] } of steps) {
    time += minutes * 60_000
    answers.push(call === undefined ? undefined : await store[call](...args))
  }
  return outcome(db, answers)
}
