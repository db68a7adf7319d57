// Every exercise is as it should be: the solution is accepted, the starter and each usual mistake are refused for their reason.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { selfCheck } from 'terrace-workshop-runner'

// A slow machine has the time that it needs.
process.env.TERRACE_WORKSHOP_TIMEOUT_MS = '30000'

const workshop = new URL('../', import.meta.url)
const { exercises } = JSON.parse(readFileSync(new URL('workshop.json', workshop), 'utf8'))
const seeds = process.env.TERRACE_SUITE === '1' ? [1, 2] : [1]

// Many checks wait for a program that does not answer, so more run at once than there are cores. Those that wait most begin first.
test('exercises', { concurrency: 6 }, async (t) => {
  await Promise.all(
    exercises.toReversed().map((name) =>
      t.test(name, async () => {
        assert.deepEqual(await selfCheck(workshop, { seeds, exercises: [name] }), [])
      })
    )
  )
})
