// The counts of a job: what ended badly never counts as passed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted, JOBS } from '../jobs.mjs'
import { table } from '../table.mjs'

const tap = 'ok 1 a\n\n1..3\n# tests 3\n# pass  3\n'

test('a run that passed', () => {
  assert.deepEqual(counted('suite', { status: 0, output: tap }), { passed: 3, failed: 0, failures: [] })
})

test('a run that failed, crashed, or ran nothing', () => {
  const failed = counted('suite', { status: 1, output: 'not ok 2 b\n# tests 3\n# pass  2\n# fail  1\n' })
  assert.deepEqual(failed, { passed: 2, failed: 1, failures: ['not ok 2 b'] })
  for (const run of [
    { status: null, output: tap },
    { status: 1, output: tap },
    { status: 0, output: '' },
    { status: 0, output: '# pass 0\n' }
  ]) {
    const { failed, failures } = counted('suite', run)
    assert.equal(failed, 1)
    assert.match(failures[0], /^suite ended with status/)
  }
})

test('a small program that does not say that it is done has failed', async () => {
  const ended = (status, output) => JOBS.smoke({ run: async () => ({ status, output }) })
  assert.equal((await ended(0, 'ok linux x64 22\n')).failed, 0)
  assert.equal((await ended(0, '')).failed, 1)
  assert.equal((await ended(139, 'ok linux x64 22\n')).failed, 1)
})

test('what was skipped and what failed can be told in the table', () => {
  const text = table(
    {
      'Node 22': { build: 'linux-x64-gnu', suite: { passed: 2, failed: 1 } },
      Bun: { build: 'linux-x64-gnu', skipped: 'a processor with AVX2' }
    },
    ['smoke', 'suite']
  )
  assert.match(text, /\| Node 22 \| linux-x64-gnu \| – \| 2, \*\*1 failed\*\* \|/)
  assert.match(text, /\| Bun \| linux-x64-gnu \| skipped \| {2}\|\n\n?Bun: a processor with AVX2/)
})
