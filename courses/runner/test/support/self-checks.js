// Tests of a workshop, one for each exercise: the solution is accepted, the starter and each usual mistake are refused for their reason.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { selfCheck } from '../../dist/index.mjs'

/** A second seed with TERRACE_SUITE=1. */
const seeds = process.env.TERRACE_SUITE === '1' ? [1, 2] : [1]

/**
 * @param {URL} workshop - Its directory.
 * @param {{ concurrency: number, timeoutMs: number }} options - How many exercises are checked at once, and the time that each program
 *   has: a slow machine has what it needs.
 */
export function testExercises(workshop, { concurrency, timeoutMs }) {
  process.env.TERRACE_WORKSHOP_TIMEOUT_MS = String(timeoutMs)
  const { exercises } = JSON.parse(readFileSync(new URL('workshop.json', workshop), 'utf8'))
  // The last ones tend to take longest, so they begin first.
  test('exercises', { concurrency }, async (t) => {
    await Promise.all(
      exercises.toReversed().map((name) =>
        t.test(name, async () => {
          assert.deepEqual(await selfCheck(workshop, { seeds, exercises: [name] }), [])
        })
      )
    )
  })
}
