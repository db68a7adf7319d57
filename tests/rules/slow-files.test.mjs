// Which test files take too long, on a quiet machine and on a busy one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slowFiles } from '../support/slow-files.mjs'

/** The files of a run in which `one` takes these seconds, and all others `rest`. */
const run = (one, rest) =>
  new Map([
    ['one', one],
    ['others', rest]
  ])

test('on a quiet machine, a file takes 20 seconds at most, or is listed', () => {
  assert.deepEqual(slowFiles(run(20, 15), { others: 'many' }, 335), [])
  assert.match(slowFiles(run(21, 15), {}, 335)[0], /^one takes 21\.0 s, more than 20 s/)
  assert.deepEqual(slowFiles(run(21, 15), { one: 'a reason' }, 335), [])
})

test('on a busy machine, which is slower for some files than for others, it may take longer', () => {
  const listed = { others: 'many' }
  assert.deepEqual(slowFiles(run(80, 1170), listed, 335), [])
  assert.match(slowFiles(run(150, 655), listed, 335)[0], /more than 115 s/)
})
