// What docs/back-ends.md says is what the results say.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { tables } from '../tables.js'
import { targets } from '../targets.js'

const read = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const results = JSON.parse(read('bench/results/back-ends.json'))
const parts = (text) => text.match(/<!-- (supports|processes|passed) -->[\s\S]*?<!-- \/\1 -->/g)

test('the tables of docs/back-ends.md are those of results/back-ends.json', () => {
  const found = parts(read('docs/back-ends.md'))
  assert.equal(found.length, 3)
  assert.deepEqual(found, parts(tables(results)))
})

test('every target has results, or a reason why not', () => {
  assert.deepEqual(
    results.targets.map(({ name }) => name),
    targets.map(({ name }) => name)
  )
  for (const { name, notRun, suite } of results.targets)
    assert.ok(notRun !== undefined || suite.passed >= 1470, name)
})

test('the times in docs/back-ends.md are those of results/back-ends.md', () => {
  const [, shown] = /<!-- costs -->\n\n([\s\S]*?)\n\n<!-- \/costs -->/.exec(read('docs/back-ends.md'))
  const [measured] = read('bench/results/back-ends.md').split(/^.*: times as fast as .*$/m)
  assert.equal(shown, measured.trim())
})
