// Outcomes of tests are judged by what is known, and what is known must be so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from '../../support/known.mjs'

const outcome = (name, ...failures) => ({ name, isSkipped: false, failures })

test('tests that pass, fail, and fail for a known reason are counted apart', () => {
  const outcomes = [outcome('X: a'), outcome('b (X)', 'no'), outcome('X: known and so on', 'as ever')]
  const { surprises, ...counts } = judge(outcomes, [{ test: 'known', reason: 'so it is' }], 1, 'X')
  assert.deepEqual(counts, {
    passed: 1,
    failed: 1,
    skipped: 0,
    exceptions: [{ test: 'known and so on', reason: 'so it is' }]
  })
  assert.deepEqual(surprises, ['b: no'])
})

test('a known failure that passes, or is gone, is a surprise', () => {
  for (const outcomes of [[outcome('known')], []]) {
    const { surprises } = judge(outcomes, [{ test: 'known', reason: 'so it was' }], 0)
    assert.deepEqual(surprises, ['known: it does not fail, so it is no exception any more'])
  }
  const may = { test: 'known', reason: 'now and then', is: 'may fail' }
  assert.deepEqual(judge([outcome('known')], [may], 1).surprises, [])
})

test('tests that are left out are named, and too few tests are a surprise', () => {
  const leftOut = { test: 'long', reason: 'it takes minutes', is: 'left out' }
  const { exceptions, surprises } = judge([outcome('a')], [leftOut], 2)
  assert.deepEqual(exceptions, [{ test: 'long', reason: 'it takes minutes', isLeftOut: true }])
  assert.deepEqual(surprises, ['only 1 tests pass, and 2 should at least'])
})
