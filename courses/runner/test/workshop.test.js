// A learner's way through a workshop, by its program.

import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { someOf } from '../../../tests/support/form.mjs'
import { Learner, tiny } from './support/learner.js'

const solution = (exercise) => join(tiny, 'exercises', exercise, 'solution.mjs')

test('select, verify what is wrong and what is right, and the progress is there in the next run', async (t) => {
  const learner = new Learner(t)
  const selected = await learner.run('select', 'double')
  assert.equal(selected.code, 0)
  assert.match(selected.out, /^Double\n\nExport a function/)
  assert.match(selected.out, / {2}• double\(2\) is 4\n/)
  assert.match(selected.out, /\n {4}export default \(number\) => 0\n/)
  assert.match(selected.out, /Your starting point: double\.mjs\. Then: node .*main\.mjs verify double\.mjs/)
  assert.equal(learner.read('double.mjs'), readFileSync(join(tiny, 'exercises/double/starter.mjs'), 'utf8'))

  const refused = await learner.run('verify', 'double.mjs', '--seed', '7')
  assert.equal(refused.code, 1)
  assert.match(refused.out, /^✗ Not yet\. double\(\d+\) is wrong\.\n\nexpected: +\d+\nyours: +\d+\n/)
  assert.match(refused.out, /Seed: 7\. --seed 7/)
  assert.equal((await learner.run('verify', '--seed', '7')).out, refused.out)
  assert.match((await learner.run('status')).out, /^0 of 5 solved\. Selected: Double\.\n/)

  cpSync(solution('double'), join(learner.directory, 'mine.mjs'))
  const accepted = await learner.run('verify', 'mine.mjs')
  assert.deepEqual({ code: accepted.code, err: accepted.err }, { code: 0, err: '' })
  assert.match(accepted.out, /^✓ Accepted: Double is solved\.\nNext: node .*main\.mjs next\n$/)
  assert.match(
    (await learner.run('list')).out,
    /^A tiny workshop\n✓ 1 {2}Double \(double\)\n {2}2 {2}Count \(count\)\n/
  )
  assert.match((await learner.run('next')).out, /^Count\n/)
  assert.match((await learner.run('status')).out, /^1 of 5 solved\. Selected: Count\.\n/)
  assert.ok(Date.parse(learner.progress.solved.double) > 0)
  assert.deepEqual(learner.leftovers, [])
})

test('every exercise solved, by number, with a directory as well', async (t) => {
  const learner = new Learner(t)
  for (const [index, name] of ['double', 'count', 'save', 'serve', 'record'].entries()) {
    assert.equal((await learner.run('select', String(index + 1))).code, 0)
    const part = name === 'save' ? 'solution' : 'solution.mjs'
    const { code, out } = await learner.run('verify', join(tiny, 'exercises', name, part))
    assert.equal(code, 0, out)
    if (index === 4) assert.match(out, /You have solved all exercises/)
  }
  assert.ok(learner.has('save/index.mjs') && learner.has('save/text.mjs'))
  assert.match((await learner.run('next')).out, /You have solved all exercises/)
  assert.deepEqual(learner.leftovers, [])
})

test('a chapter started twice keeps what the learner has written', async (t) => {
  const learner = new Learner(t)
  learner.write('double.mjs', '// mine\n')
  learner.write('save/index.mjs', '// mine as well\n')
  const again = await learner.run('select', 'double')
  assert.equal(again.code, 0)
  assert.match(again.out, /double\.mjs already exists, so it was not changed\./)
  assert.match((await learner.run('select', 'save')).out, /save already exists, so it was not changed\./)
  assert.equal(learner.read('double.mjs'), '// mine\n')
  assert.equal(learner.read('save/index.mjs'), '// mine as well\n')
  assert.ok(!learner.has('save/text.mjs'))
})

test('help, version, and a list where there is no terminal', async (t) => {
  const learner = new Learner(t)
  for (const args of someOf([['help'], ['--help'], ['-h']])) {
    assert.match((await learner.run(...args)).out, /^Usage: node .*main\.mjs \[COMMAND\]\n/)
  }
  for (const args of [['version'], ['--version']]) assert.equal((await learner.run(...args)).out, '1.2.3\n')
  assert.equal((await learner.run()).out, (await learner.run('list')).out)
})
