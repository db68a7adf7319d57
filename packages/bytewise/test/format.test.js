// The examples of docs/format/bytewise.md: each is decoded, compared with what the text says about it, and encoded again.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import original from 'bytewise'
import { decode, encode, lower, MAX_DEPTH, MAX_KEY_SIZE_BYTES, upper } from 'terrace-bytewise'

const document = readFileSync(new URL('../../../docs/format/bytewise.md', import.meta.url), 'utf8')

/** The key that each example encodes. */
const CHECKS = {
  'bytewise-null': null,
  'bytewise-false': false,
  'bytewise-true': true,
  'bytewise-negative-infinity': Number.NEGATIVE_INFINITY,
  'bytewise-negative-number': -12345,
  'bytewise-negative-subnormal': -5e-324,
  'bytewise-zero': 0,
  'bytewise-number': 12345,
  'bytewise-infinity': Number.POSITIVE_INFINITY,
  'bytewise-negative-bigint': -257n,
  'bytewise-zero-bigint': 0n,
  'bytewise-bigint': 256n,
  'bytewise-long-bigint': 2n ** 2040n,
  'bytewise-date-before-1970': new Date(-12345),
  'bytewise-date': new Date(12345),
  'bytewise-bytes': Buffer.from([0, 1, 254, 255]),
  'bytewise-empty-string': '',
  'bytewise-string': 'föo',
  'bytewise-bytes-in-array': [Buffer.from([0, 1, 254, 255])],
  'bytewise-string-in-array': ['a\0\x01b'],
  'bytewise-nested-array': [['foo', true], 'bar'],
  'bytewise-undefined-in-array': [undefined],
  'bytewise-map': new Map([
    ['b', null],
    ['a', 1]
  ]),
  'bytewise-undefined': undefined,
  'bytewise-set': new Set(['a', 1]),
  'bytewise-int16-array': Int16Array.from([-1, 0, 1]),
  'bytewise-float64-array': Float64Array.from([-1.5, 1.5]),
  'bytewise-int16-array-in-array': [Int16Array.from([-1, 0])]
}

/** The examples that are bounds, which cannot be decoded. */
const BOUNDS = {
  'bytewise-lower-bound': lower(['user']),
  'bytewise-upper-bound': upper(['user']),
  'bytewise-upper-bound-in-array': ['user', upper('a')]
}

/** The types that npm bytewise has as well. */
const isOurs = (name) => /bigint|set|map|int16|float64/.test(name)

/** Bytes in two hex digits each; `#` begins a comment, and `00*7` is seven zero bytes, as in all of docs/format. */
function parse(text) {
  const words = text.replace(/#.*$/gm, '').split(/\s+/).filter(Boolean)
  return Buffer.concat(
    words.map((word) => {
      const [, byte, count = '1'] =
        word.match(/^([0-9a-f]{2})(?:\*(\d+))?$/) ?? assert.fail(`not bytes: ${word}`)
      return Buffer.alloc(Number(count), Number.parseInt(byte, 16))
    })
  )
}

const examples = new Map(
  [...document.matchAll(/^```hex name=(\S+)\n([\s\S]*?)^```$/gm)].map(([, name, text]) => [name, parse(text)])
)

test('every example has a check and every check an example', () => {
  assert.equal(document.match(/^```hex/gm).length, examples.size)
  assert.deepEqual([...examples.keys()].sort(), [...Object.keys(CHECKS), ...Object.keys(BOUNDS)].sort())
})

for (const [name, key] of Object.entries(CHECKS)) {
  test(`example ${name}`, () => {
    const bytes = examples.get(name)
    assert.deepStrictEqual(decode(bytes), key)
    assert.deepEqual(encode(key), bytes)
    if (!isOurs(name)) assert.ok(original.encode(key).equals(bytes))
  })
}

for (const [name, bound] of Object.entries(BOUNDS)) {
  test(`example ${name}`, () => {
    assert.deepEqual(encode(bound), examples.get(name))
    assert.throws(() => decode(examples.get(name)), { code: 'BYTEWISE_DAMAGED' })
  })
}

test('the tables of types are those of the code', () => {
  const stated = [...document.matchAll(/^\| ([0-9a-f]{2})(?:–([0-9a-f]{2}))? \|/gm)].flatMap(
    ([, first, last = first]) => {
      const [from, to] = [first, last].map((byte) => Number.parseInt(byte, 16))
      return Array.from({ length: to - from + 1 }, (_, i) => from + i)
    }
  )
  const unknown = /^No type has the byte/
  const known = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => {
    try {
      decode(Uint8Array.of(byte))
      return true
    } catch (error) {
      return !unknown.test(error.message)
    }
  })
  // The bounds are in the table, too.
  assert.deepEqual(
    [...new Set(stated)].sort((a, b) => a - b),
    [0, ...known, 255]
  )
  assert.ok(MAX_DEPTH > 0 && MAX_KEY_SIZE_BYTES > 0)
})

test('what the document calls damage is damage', () => {
  const damage = {
    nothing: '',
    NaN: '42 7f f8 00*6',
    'an infinity as a double': '42 7f f0 00*6',
    'minus zero': '42 80 00*7',
    'a negative zero': '41 ff ff ff ff ff ff ff ff',
    'a number that is cut off': '42 40 00',
    'a time that is not whole': '52 3f e0 00*6',
    'a time beyond what dates reach': '52 43 40 00*6',
    'a BigInt of too many bytes': '49 02 00 01',
    'a BigInt of minus zero': '48 ff',
    'a BigInt with a long length that is short': '49 ff 00 00 00 01 05',
    'a BigInt of 4 GB that is not there': '49 ff ff ff ff ff 01',
    'an escape of no byte': 'a0 70 01 03 00 00',
    'an escape at the end': 'a0 70 01 00 00',
    'a high escape of no byte': 'a0 60 fe 01 00 00',
    'an unescaped high byte': 'a0 60 ff 00 00',
    'half of a surrogate pair': '70 ed a0 80',
    'an overlong form': '70 c0 80',
    'a longer overlong form': '70 e0 80 af',
    'a character beyond the last': '70 f4 90 80 80',
    'a character that is cut off': '70 e2 82',
    'a character that its end cuts off': 'a0 70 e2 00 00',
    'a byte that is in no UTF-8': '70 ff',
    'a string without end': 'a0 70 61',
    'bytes without end': 'a0 60 61',
    'an array without end': 'a0 10',
    'what follows the end': 'a0 00 00',
    'what follows null': '10 10',
    'a member twice': '90 10 10 00',
    'members out of order': '90 20 10 00',
    'a map with a key alone': 'c0 10 00',
    'a map with a key twice': 'c0 10 10 10 20 00',
    'half an element': '64 80',
    'a typed array with NaN': '6a ff c0 00 00',
    'a typed array with minus zero': '6a 7f ff ff ff'
  }
  for (const [what, text] of Object.entries(damage)) {
    assert.throws(() => decode(parse(text)), { code: 'BYTEWISE_DAMAGED' }, what)
  }
  const long = parse(`a0 70 ${'61 '.repeat(100)} ed a0 80 00 00`)
  assert.throws(() => decode(long), { code: 'BYTEWISE_DAMAGED', offset: 102 })
})
