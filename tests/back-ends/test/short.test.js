// The short form of `make back-ends`: what no package's own tests run, clients in front of back-ends on disk; and a run's messages.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const RUN = fileURLToPath(new URL('../run.js', import.meta.url))
const committed = JSON.parse(
  readFileSync(new URL('../../../bench/results/back-ends.json', import.meta.url), 'utf8')
)

const resultsIn = ({ targets }, name) => targets.find((target) => target.name === name)

function run(t, args) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-back-ends-test-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'results.json')
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, '--results', file, ...args], {
    encoding: 'utf8'
  })
  return {
    status,
    stdout,
    stderr,
    resultsOf: (name) => resultsIn(JSON.parse(readFileSync(file, 'utf8')), name)
  }
}

for (const name of ['NetLevel in front of Level', 'NetLevel in front of LmdbLevel']) {
  test(`${name} passes abstract-level's suite, and index() is refused`, (t) => {
    const jobs = ['suite', 'index'].flatMap((job) => ['--job', job])
    const { status, stdout, stderr, resultsOf } = run(t, ['--target', name, ...jobs])
    assert.equal(status, 0, stdout + stderr)
    const { suite, index } = resultsOf(name)
    assert.deepEqual([suite.failed, suite.exceptions], [0, []])
    assert.ok(suite.passed >= 1470, `${suite.passed} tests`)
    assert.equal(index.refusedWith, 'TOOLBOX_SHARED')
  })
}

test('probes find what the results say', (t) => {
  const { status, stdout, stderr, resultsOf } = run(t, ['--target', 'LmdbLevel', '--job', 'probes'])
  assert.equal(status, 0, stdout + stderr)
  const { probes } = resultsOf('LmdbLevel')
  assert.deepEqual(probes, resultsIn(committed, 'LmdbLevel').probes)
})

test('a target or a job that does not exist is named', (t) => {
  for (const args of [
    ['--target', 'NoLevel'],
    ['--job', 'nothing']
  ]) {
    const { status, stderr } = run(t, args)
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`there is no ${args[0].slice(2)} '${args[1]}': .*Level|core`))
  }
})
