// The counts of a job: what ended badly never counts as passed.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { countsOf } from '../counts.mjs'
import { counted, JOBS, killed, SHORT, tested } from '../jobs.mjs'
import { MAY_FAIL, NOT_IN, ownTestFile, ownTests } from '../own-tests.mjs'
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

test('what Node, Deno and Bun print of tests is counted, without what was skipped', () => {
  const node =
    '# Subtest: a\nok 1 - a\n  ---\n  ...\nnot ok 2 - b, c\nok 3 - d # SKIP no disk\n1..3\n# pass 1\n'
  const bun = 'a.test.js:\n(pass) a [1.45ms]\n(fail) b, c [2.0s]\n(skip) d\n\n 1 pass\n 1 fail\n'
  for (const output of [node, bun]) {
    assert.deepEqual(countsOf(output), { passed: ['a'], failed: ['b, c'], assertions: 2 })
  }
})

test('a test that may fail is no failure, and others are', () => {
  const mayFail = { b: 'a reason' }
  const failing = tested('file', { status: 1, output: 'ok 1 - a\nnot ok 2 - b\n' }, mayFail)
  assert.deepEqual(failing, { passed: 1, failed: 0, known: 1, failures: [] })
  assert.equal(tested('file', { status: 0, output: 'ok 1 - a\nok 2 - b\n' }, mayFail).passed, 2)
  const other = tested('file', { status: 1, output: 'ok 1 - a\nnot ok 2 - c\nnot ok 3 - b\n' }, mayFail)
  assert.equal(other.failed, 1)
  assert.equal(other.failures[0], 'c')
})

test('a file of tests that crashed, was killed, or ran nothing has failed', () => {
  for (const run of [
    { status: null, output: 'ok 1 - a\n' },
    { status: null, output: 'ok 1 - a\nnot ok 2 - b\n' },
    { status: 1, output: 'ok 1 - a\n' },
    { status: 0, output: '' }
  ]) {
    assert.equal(tested('file', run, { b: 'a reason' }).failed, 1)
  }
})

test('kills count when there were as many as wanted and the program ended well', () => {
  const output = 'LevelDB does not check\n{"seeds":1,"kills":2}\n'
  assert.equal(killed(2, { status: 0, output }).passed, 2)
  assert.equal(killed(3, { status: 0, output }).failed, 1)
  assert.equal(killed(2, { status: 1, output }).failed, 1)
  assert.equal(killed(2, { status: 0, output: '' }).failed, 1)
})

test('what a runtime leaves out is a file or a test that there is', () => {
  const names = ownTests()
  assert.ok(names.includes('operations') && names.includes('memory/basics') && !names.includes('package'))
  for (const files of Object.values(NOT_IN)) for (const name in files) assert.ok(names.includes(name), name)
  const sources = names.map((name) => readFileSync(ownTestFile(name), 'utf8')).join('')
  for (const tests of Object.values(MAY_FAIL))
    for (const name in tests) assert.ok(sources.includes(`'${name}'`), name)
  for (const job in SHORT) assert.ok(job in JOBS, job)
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
      Deno: {
        build: 'linux-x64-gnu',
        smoke: { passed: 1, failed: 0, sizeBytes: 7_140_000 },
        suite: { passed: 5, failed: 0, known: 1 }
      },
      Bun: { build: 'linux-x64-gnu', skipped: 'a processor with AVX2' }
    },
    ['smoke', 'suite']
  )
  assert.match(text, /\| Deno \| linux-x64-gnu \| 7\.1 MB \| 5, 1 not \|/)
  assert.match(text, /\| Node 22 \| linux-x64-gnu \| – \| 2, \*\*1 failed\*\* \|/)
  assert.match(text, /\| Bun \| linux-x64-gnu \| skipped \| {2}\|\n\n?Bun: a processor with AVX2/)
})
