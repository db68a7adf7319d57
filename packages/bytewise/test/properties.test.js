// What must hold for all keys: order, round trips, and that no two keys have the same bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { between, decode, encode, lower, prefix, upper } from 'terrace-bytewise'
import { scaled } from '../../../tests/support/form.mjs'
import { key } from './support/arbitrary.js'
import { compareKeys } from './support/order.js'

const numRuns = scaled(2000)
const sign = (number) => Math.sign(number)
const compareBytes = (a, b) => Buffer.compare(encode(a), encode(b))

test('bytes compare as their keys do', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      assert.equal(sign(compareBytes(a, b)), sign(compareKeys(a, b)))
    }),
    { numRuns }
  )
})

test('bytes of keys in the same arrays compare as the keys do', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 2 }), key, key, key, (beginning, a, b, rest) => {
      assert.equal(
        sign(compareBytes([...beginning, a, rest], [...beginning, b, rest])),
        sign(compareKeys(a, b))
      )
      assert.equal(
        sign(compareBytes([...beginning, a, rest], [...beginning, b])),
        sign(compareKeys(a, b)) || 1
      )
      assert.equal(sign(compareBytes([[a], rest], [[b], rest])), sign(compareKeys(a, b)))
    }),
    { numRuns }
  )
})

test('a key comes back as the same key', () => {
  fc.assert(
    fc.property(key, (a) => {
      const bytes = encode(a)
      const back = decode(bytes)
      assert.equal(compareKeys(back, a), 0)
      assert.deepEqual(encode(back), bytes)
    }),
    { numRuns }
  )
})

test('keys without zeros of two signs and members that are alike come back deeply equal', () => {
  const plain = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.int16Array(),
    fc.bigInt64Array(),
    fc.boolean()
  )
  const nested = fc.array(
    fc.oneof(
      plain,
      fc.array(plain),
      fc.dictionary(fc.string(), plain).map((d) => new Map(Object.entries(d)))
    )
  )
  fc.assert(
    fc.property(nested, (a) => assert.deepStrictEqual(decode(encode(a)), a)),
    { numRuns }
  )
})

test('two keys have the same bytes only if they are the same key', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
      const byBytes = new Map()
      for (const each of keys) {
        const hex = Buffer.from(encode(each)).toString('hex')
        if (byBytes.has(hex)) assert.equal(compareKeys(byBytes.get(hex), each), 0)
        byBytes.set(hex, each)
      }
    }),
    { numRuns: scaled(500) }
  )
})

test('bytes are damaged, or exactly those of the key that is decoded from them', () => {
  const flips = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 })
  let sound = 0
  let refused = 0
  const check = (bytes) => {
    let back
    try {
      back = decode(bytes)
    } catch (error) {
      refused++
      assert.equal(error.code, 'BYTEWISE_DAMAGED', String(error.stack))
      assert.ok(error.offset >= 0 && error.offset <= bytes.length)
      return
    }
    sound++
    assert.equal(Buffer.compare(encode(back), bytes), 0)
  }
  fc.assert(
    fc.property(key, flips, fc.nat(), (a, changes, cut) => {
      const bytes = Buffer.from(encode(a))
      for (const [offset, byte] of changes) bytes[offset % bytes.length] = byte
      check(bytes)
      check(bytes.subarray(0, cut % (bytes.length + 1)))
      check(Buffer.concat([bytes, bytes]))
    }),
    { numRuns }
  )
  // Bytes of types, escapes and ends, which random bytes seldom are.
  const likely = fc.constantFrom(
    0,
    1,
    2,
    0x10,
    0x20,
    0x40,
    0x42,
    0x48,
    0x49,
    0x52,
    0x60,
    0x62,
    0x69,
    0x70,
    0x90,
    0xa0,
    0xc0,
    0xf0,
    0xfe,
    0xff
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(likely, likely, fc.nat({ max: 255 })), { maxLength: 24 }), (list) =>
      check(Buffer.from(list))
    ),
    { numRuns: numRuns * 2 }
  )
  assert.ok(sound > scaled(100) && refused > scaled(1000), `${sound} sound, ${refused} refused`)
})

test('the range of a prefix contains the prefix and everything below it, and nothing else', () => {
  const within = (range, a) =>
    Buffer.compare(encode(range.gte), encode(a)) <= 0 && Buffer.compare(encode(a), encode(range.lt)) < 0

  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 3 }),
      fc.array(key, { maxLength: 3 }),
      key,
      (beginning, rest, other) => {
        assert.ok(within(prefix(beginning), beginning))
        assert.ok(within(prefix(beginning), [...beginning, ...rest]))
        const isBeneath =
          Array.isArray(other) && compareKeys(other.slice(0, beginning.length), beginning) === 0
        assert.equal(within(prefix(beginning), other), isBeneath)
        assert.ok(within({ gte: lower(), lt: upper() }, other))
        assert.equal(
          within({ gte: [...beginning, lower()], lt: [...beginning, upper()] }, [...beginning, ...rest]),
          rest.length > 0
        )
      }
    ),
    { numRuns }
  )

  const texts = fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\x01', '\u{10ffff}'), maxLength: 4 })
  fc.assert(
    fc.property(texts, texts, texts, (beginning, rest, other) => {
      assert.ok(within(prefix(beginning), beginning + rest))
      assert.equal(within(prefix(beginning), other), other.startsWith(beginning))
      const last = { gte: ['x', lower(beginning)], lt: ['x', upper(beginning)] }
      assert.ok(within(last, ['x', beginning + rest, 1]))
      assert.equal(within(last, ['x', other]), other.startsWith(beginning))
    }),
    { numRuns }
  )

  const lists = fc.array(fc.constantFrom(0, 1, 2, 0xfd, 0xfe, 0xff), { maxLength: 4 })
  fc.assert(
    fc.property(lists, lists, (beginning, other) => {
      const expected = beginning.every((byte, i) => other[i] === byte)
      assert.equal(within(prefix(Buffer.from(beginning)), Buffer.from(other)), expected)
      const last = { gte: [lower(Buffer.from(beginning))], lt: [upper(Buffer.from(beginning))] }
      assert.equal(within(last, [Buffer.from(other)]), expected)
      assert.equal(within(prefix(Int8Array.from(beginning)), Int8Array.from(other)), expected)
    }),
    { numRuns }
  )

  fc.assert(
    fc.property(key, key, key, (a, b, other) => {
      const [first, last] = compareKeys(a, b) <= 0 ? [a, b] : [b, a]
      const range = between(first, last)
      assert.ok(within(range, first))
      assert.ok(within(range, last))
      const inside = compareKeys(first, other) <= 0 && compareKeys(other, last) <= 0
      if (inside) assert.ok(within(range, other))
      if (within({ gte: [first, lower()], lt: [last, upper()] }, other)) assert.ok(Array.isArray(other))
    }),
    { numRuns }
  )
})
