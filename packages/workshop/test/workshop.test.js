// Each reference solution passes, each starter and each wrong solution is refused for its reason, in all languages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selfCheck } from 'terrace-workshop-runner'

// A slow machine has the time that it needs.
process.env.TERRACE_WORKSHOP_TIMEOUT_MS = '60000'

// A second seed with TERRACE_SUITE=1.
const seeds = process.env.TERRACE_SUITE === '1' ? [1, 2] : [1]

test('the course is as it should be', async () => {
  assert.deepEqual(await selfCheck(new URL('../', import.meta.url), { seeds }), [])
})
