// Random histories of writes against a model, over each back-end. TERRACE_HISTORIES=10000 runs more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { scaled } from '../../../tests/support/form.mjs'
import { ArrayBackend } from './support/array-backend.js'
import { kindsOf } from './support/databases.js'
import { runHistory } from './support/histories.js'

const count = Number(process.env.TERRACE_HISTORIES ?? scaled(80))
const first = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)
const what = `${count} random histories of writes end, and leave what the model says (TERRACE_SEED=${first})`

for (const [kind, { make }] of kindsOf()) {
  test(`${what}, over ${kind}`, async (t) => {
    let calls = 0
    for (let seed = first; seed < first + count; seed++) calls += await runHistory(seed, make(t))
    t.diagnostic(`${calls} calls`)
  })
}

for (const sync of [true, false]) {
  test(`${what}, over an array that fails ${sync ? 'at once or later' : 'later'}`, async (t) => {
    let [calls, failed] = [0, 0]

    // With few histories, chance may spare them all.
    const hasFewFailures = () => failed <= count / 4
    for (let seed = first; seed < first + count || hasFewFailures(); seed++) {
      assert.ok(seed < first + 10 * count, `${failed} failures`)
      const backend = new ArrayBackend({ sync, failures: 0.05, seed })
      const calm = () => {
        backend.failures = 0
      }
      calls += await runHistory(seed, new BackendLevel(backend), calm)
      failed += backend.calls.failed
    }

    t.diagnostic(`${calls} calls, ${failed} failures of the array`)
  })
}
