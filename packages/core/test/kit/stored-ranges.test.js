// Ranges of stored keys hold the keys that the ranges of users hold, whatever form a store gives to keys.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../../../tests/support/form.mjs'
import { StoredRanges } from '../../dist/index.js'
import { randomOf } from '../support/random.js'

const MAX_LENGTH = 3

/** Stores keys of up to three bytes, each with a byte before it, as those of LMDB and SlateDB are. */
const prefixed = new StoredRanges({
  stored: (key) => Buffer.concat([Buffer.from([1]), Buffer.from(key)]),
  shortened: (key) => (key.length > MAX_LENGTH + 1 ? key.subarray(0, MAX_LENGTH + 1) : undefined),
  compare: (a, b) => a.compare(b)
})

/** Stores them as strings, as those of MySQL are. */
const binary = new StoredRanges({
  stored: (key) => Buffer.from(key).toString('latin1'),
  shortened: (key) => (key.length > MAX_LENGTH ? key.slice(0, MAX_LENGTH) : undefined),
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0)
})

const storedIn = {
  prefixed: (key) => Buffer.concat([Buffer.from([1]), key]),
  binary: (key) => key.toString('latin1')
}

/** All keys of up to three of these bytes. */
const BYTES = [0, 0x61, 0xff]
const KEYS = [[]]
for (const key of KEYS) if (key.length < MAX_LENGTH) for (const byte of BYTES) KEYS.push([...key, byte])
const keys = KEYS.map((key) => Buffer.from(key))

/** Whether a key is in a range, as `Range` documents it. */
function isIn({ gte, gt, lte, lt }, key) {
  const lower = gte ?? gt
  const upper = lte ?? lt
  const fromLower = lower === undefined ? 1 : key.compare(Buffer.from(lower))
  const fromUpper = upper === undefined ? -1 : key.compare(Buffer.from(upper))
  return (
    (fromLower > 0 || (fromLower === 0 && gte !== undefined)) &&
    (fromUpper < 0 || (fromUpper === 0 && lte !== undefined))
  )
}

function randomRange(random) {
  const range = {}
  for (const name of ['gte', 'gt', 'lte', 'lt']) {
    if (random() < 0.6) continue
    const length = Math.floor(random() * 6)
    const bound = Buffer.from(Array.from({ length }, () => BYTES[Math.floor(random() * BYTES.length)]))
    // Text is a bound as well.
    range[name] = bound.includes(0xff) || random() < 0.5 ? bound : bound.toString()
  }
  return range
}

for (const [name, ranges] of Object.entries({ prefixed, binary })) {
  const stored = storedIn[name]
  const within = (range) =>
    keys.filter((key) => ranges.contains(range, stored(key))).map((key) => key.toString('hex'))

  test(`of any range, ${name} keys`, () => {
    for (let seed = 1; seed <= scaled(500, 50); seed++) {
      const range = randomRange(randomOf(seed))
      const expected = keys.filter((key) => isIn(range, key)).map((key) => key.toString('hex'))
      const made = ranges.of(range)
      assert.deepEqual(within(made), expected, `seed ${seed}`)
      if (ranges.isEmpty(made)) assert.deepEqual(expected, [], `seed ${seed}`)
    }
  })

  test(`the rest of a range from a target, and after a key, ${name} keys`, () => {
    for (let seed = 1; seed <= scaled(500, 50); seed++) {
      const random = randomOf(seed)
      const whole = ranges.of(randomRange(random))
      const target = keys[Math.floor(random() * keys.length)]
      if (!ranges.contains(whole, stored(target))) continue
      for (const isReverse of [false, true]) {
        const isLeft = (key) => (isReverse ? target.compare(key) >= 0 : target.compare(key) <= 0)
        const left = keys.filter((key) => isLeft(key) && ranges.contains(whole, stored(key)))
        const expected = left.map((key) => key.toString('hex'))
        const from = ranges.from(whole, isReverse, target)
        assert.deepEqual(within(from), expected, `seed ${seed}`)
        assert.equal(ranges.isEmpty(from), false)
        const after = ranges.after(whole, isReverse, stored(target))
        assert.deepEqual(
          within(after),
          expected.filter((key) => key !== target.toString('hex'))
        )
      }
    }
  })
}

test('a range is known to be empty if its ends meet, and one of them is excluded', () => {
  for (const ranges of [prefixed, binary]) {
    assert.equal(ranges.isEmpty(ranges.of({ gte: 'a', lte: 'a' })), false)
    assert.equal(ranges.isEmpty(ranges.of({ gt: 'a', lte: 'a' })), true)
    assert.equal(ranges.isEmpty(ranges.of({ gte: 'a', lt: 'a' })), true)
    assert.equal(ranges.isEmpty(ranges.of({ gte: 'b', lte: 'a' })), true)
    assert.equal(ranges.isEmpty(ranges.of({ gte: 'b' })), false)
    assert.equal(ranges.isEmpty(ranges.of({})), false)
  }
})
