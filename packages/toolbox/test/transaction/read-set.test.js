// The check at commit compares many writes with many reads: by bisection, counted in comparisons.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadSet } from '../../dist/transaction/read-set.js'
import { randomNumbers } from '../support/random.js'

const keyOf = (number) => String(number).padStart(8, '0')

test('50,000 writes are compared with 3,000 ranges a few times each', () => {
  const reads = new ReadSet()
  for (let i = 0; i < 3000; i++) reads.addRange({ from: keyOf(i * 10), to: keyOf(i * 10 + 5) })
  const read = reads.now()
  let comparisons = 0

  for (let i = 0; i < 50_000; i++) {
    const text = keyOf(i)
    const key = {
      valueOf() {
        comparisons++
        return text
      }
    }
    assert.equal(read.hasKey(key), i < 30_000 && i % 10 < 5)
  }
  assert.ok(comparisons <= 50_000 * (Math.ceil(Math.log2(3000)) + 2), `${comparisons} comparisons`)
})

test('what was read is found as by looking at each', () => {
  const below = randomNumbers(5)
  for (let round = 0; round < 300; round++) {
    const reads = new ReadSet()
    const keys = Array.from({ length: below(6) }, () => keyOf(below(40)))
    const ranges = Array.from({ length: below(8) }, () => {
      const from = below(40)
      return { from: keyOf(from), to: below(12) === 0 ? undefined : keyOf(from + below(9)) }
    })
    for (const key of keys) reads.addKey(key)
    for (const range of ranges) reads.addRange(range)
    const read = reads.now()
    const isWithin = ({ from, to }, key) => key >= from && (to === undefined || key < to)

    for (let i = 0; i < 50; i++) {
      const key = keyOf(i)
      assert.equal(read.hasKey(key), keys.includes(key) || ranges.some((range) => isWithin(range, key)))
      const wanted = { from: key, to: keyOf(i + 1 + below(5)) }
      const has = keys.some((key) => isWithin(wanted, key))
      const overlaps = ranges.some(
        ({ from, to }) =>
          (to === undefined || from < to) && (to === undefined || wanted.from < to) && from < wanted.to
      )
      assert.equal(read.overlaps(wanted), has || overlaps)
    }
  }
})
