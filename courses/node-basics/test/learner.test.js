// A learner's way through a part of the workshop, by its program.

import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Learner } from '../../runner/test/support/learner.js'

const workshop = fileURLToPath(new URL('../', import.meta.url))
const partOf = (exercise, part) => join(workshop, 'exercises', exercise, part)
const learnerOf = (t, env = {}) => new Learner(t, { program: join(workshop, 'main.mjs'), env })

test('select, verify what is wrong and what is right, next', async (t) => {
  const learner = learnerOf(t)
  const selected = await learner.run('select', '2')
  assert.equal(selected.code, 0, selected.err)
  assert.match(selected.out, /^Sum of arguments\n[\s\S]*Your starting point: sum-of-arguments\.mjs\./)
  assert.match((await learner.run('run')).out, /^0\n/)

  cpSync(partOf('sum-of-arguments', 'wrong/joins-texts.mjs'), join(learner.directory, 'mine.mjs'))
  const refused = await learner.run('verify', 'mine.mjs', '--seed', '3')
  assert.deepEqual([refused.code, refused.err], [1, ''])
  assert.match(refused.out, /^✗ Not yet\. Your program joins texts instead of adding numbers\./)
  assert.match(refused.out, /\nexpected: +'\d+'\nyours: +'0\d+-\d'\n/)
  assert.match(refused.out, /Seed: 3\./)

  cpSync(partOf('sum-of-arguments', 'solution.mjs'), join(learner.directory, 'sum-of-arguments.mjs'))
  const accepted = await learner.run('verify')
  assert.deepEqual([accepted.code, accepted.err], [0, ''])
  assert.match(accepted.out, /^✓ Accepted: Sum of arguments is solved\.\n/)
  assert.match(
    (await learner.run('next')).out,
    /^Read a file\n[\s\S]*Your starting point: read-a-file\.mjs\./
  )
  assert.match((await learner.run('status')).out, /^1 of 13 solved\. Selected: Read a file\./)
  assert.deepEqual(learner.leftovers, [])
})

test('the error of a program that fails is shown below its explanation', async (t) => {
  const learner = learnerOf(t)
  await learner.run('select', 'read-a-file')
  cpSync(partOf('read-a-file', 'wrong/bytes.mjs'), join(learner.directory, 'mine.mjs'))
  const { code, out, err } = await learner.run('verify', 'mine.mjs')
  assert.deepEqual([code, err], [1, ''])
  assert.match(out, /^✗ Not yet\. Without an encoding, a file is read as bytes/)
  assert.match(out, /TypeError: .*split is not a function\n {4}at .*mine\.mjs:4:\d+/)
})

test('a directory of two files, in German', async (t) => {
  const learner = learnerOf(t, { LANG: 'de_DE.UTF-8' })
  assert.match((await learner.run('list')).out, /^Erste Schritte mit Node\n {3}1 {2}Hello, World/)
  assert.match((await learner.run('select', 'own-module')).out, /^Ein eigenes Modul\n/)
  assert.ok(learner.has('own-module/listing.mjs'))
  const refused = await learner.run('verify')
  assert.equal(refused.code, 1)
  assert.match(refused.out, /^✗ Noch nicht\. .+ gehört nicht in die Liste\./)
  cpSync(partOf('own-module', 'solution'), join(learner.directory, 'own-module'), { recursive: true })
  const accepted = await learner.run('verify')
  assert.equal(accepted.code, 0, accepted.out)
})

test('the last exercise, with a database, and then all are solved', async (t) => {
  const learner = learnerOf(t)
  await learner.run('select', '13')
  const { code, out } = await learner.run('verify', partOf('json-api', 'solution.mjs'))
  assert.equal(code, 0, out)
  assert.match(out, /^✓ Accepted: A JSON API is solved\.\n/)
  const { version } = JSON.parse(readFileSync(join(workshop, 'package.json'), 'utf8'))
  assert.equal((await learner.run('version')).out, `${version}\n`)
  assert.deepEqual(learner.leftovers, [])
})
