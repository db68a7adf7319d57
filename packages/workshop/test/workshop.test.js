// Each reference solution passes, each starter and each wrong solution is refused for its reason, in all languages.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { selfCheck } from 'terrace-workshop-runner'

// A slow machine has the time that it needs.
process.env.TERRACE_WORKSHOP_TIMEOUT_MS = '60000'

const course = new URL('../', import.meta.url)
const { exercises } = JSON.parse(readFileSync(new URL('workshop.json', course), 'utf8'))
// A second seed with TERRACE_SUITE=1.
const seeds = process.env.TERRACE_SUITE === '1' ? [1, 2] : [1]

// A check runs one process after another, so a few checks at once keep two cores busy.
test('the chapters', { concurrency: 3 }, async (t) => {
  await Promise.all(
    exercises.map((name) =>
      t.test(name, async () => {
        assert.deepEqual(await selfCheck(course, { seeds, exercises: [name] }), [])
      })
    )
  )
})
