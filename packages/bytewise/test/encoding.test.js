// Single keys: their bytes, what they decode to, and what is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import vm from 'node:vm'
import { decode, encode, lower, MAX_DEPTH, MAX_KEY_SIZE_BYTES, prefix, upper } from 'terrace-bytewise'
import { isShort, scaled } from '../../../tests/support/form.mjs'

const hex = (key) => Buffer.from(encode(key)).toString('hex')
const refuses = (key, code) => assert.throws(() => encode(key), { name: 'TypeError', code })

/** Nested arrays of this depth. */
function nest(depth, inside = []) {
  let key = inside
  for (let i = 1; i < depth; i++) key = [key]
  return key
}

test('zero has no sign', () => {
  assert.equal(hex(-0), hex(0))
  assert.ok(Object.is(decode(encode(-0)), 0))
  assert.ok(Object.is(decode(encode(new Float32Array([-0])))[0], 0))
  assert.equal(hex(new Date(-0)), hex(new Date(0)))
  assert.equal(hex(-0n), hex(0n))
})

test('NaN and invalid dates have no place in the order', () => {
  refuses(Number.NaN, 'BYTEWISE_INVALID_VALUE')
  refuses([1, [Number.NaN]], 'BYTEWISE_INVALID_VALUE')
  refuses(new Date(Number.NaN), 'BYTEWISE_INVALID_VALUE')
  refuses([new Date('never')], 'BYTEWISE_INVALID_VALUE')
  refuses(new Float64Array([1, Number.NaN]), 'BYTEWISE_INVALID_VALUE')
  refuses(new Float32Array([Number.NaN]), 'BYTEWISE_INVALID_VALUE')
})

test('half of a surrogate pair is refused, because two such strings would be one key', () => {
  for (const half of [
    '\ud800',
    '\udbff',
    '\udc00',
    '\udfff',
    'a\ud800b',
    '\udc00\ud800',
    '\ud800\ud800\udc00'
  ]) {
    for (const text of [half, half.padEnd(200, 'x'), half.padStart(200, 'x'), `${half.padEnd(100, 'é')}\0`]) {
      refuses(text, 'BYTEWISE_INVALID_STRING')
      refuses([text], 'BYTEWISE_INVALID_STRING')
      refuses(lower(text), 'BYTEWISE_INVALID_STRING')
    }
  }
  assert.equal(decode(encode('\ud83d\ude00')), '\u{1f600}')
})

test('other kinds of values are refused', () => {
  const values = [
    () => undefined,
    class {},
    Symbol('a'),
    {},
    { a: 1 },
    Object.create(null),
    Object.create(Date.prototype),
    Object.create(Map.prototype),
    Object.create(Uint8Array.prototype),
    { [Symbol.toStringTag]: 'Date' },
    { [Symbol.toStringTag]: 'Map' },
    { [Symbol.toStringTag]: 'Uint8Array' },
    new String('a'),
    new Number(1),
    new Boolean(true),
    Object(1n),
    new Error('a'),
    /a/,
    new WeakMap(),
    new ArrayBuffer(1),
    new DataView(new ArrayBuffer(1)),
    Promise.resolve()
  ]
  for (const value of values) {
    refuses(value, 'BYTEWISE_UNSUPPORTED_TYPE')
    refuses([1, value], 'BYTEWISE_UNSUPPORTED_TYPE')
    refuses(new Map([[1, value]]), 'BYTEWISE_UNSUPPORTED_TYPE')
    refuses(prefix([value]).gte, 'BYTEWISE_UNSUPPORTED_TYPE')
  }
})

test('values of other realms are the same keys', () => {
  const there = vm.runInNewContext(`({
    date: new Date(5), bytes: new Uint8Array([1, 255]), floats: new Float32Array([1.5]),
    map: new Map([['a', 1]]), set: new Set([2, 1]), array: ['a', [1]]
  })`)
  assert.equal(hex(there.date), hex(new Date(5)))
  assert.equal(hex(there.bytes), hex(Buffer.from([1, 255])))
  assert.equal(hex(there.floats), hex(new Float32Array([1.5])))
  assert.equal(hex(there.map), hex(new Map([['a', 1]])))
  assert.equal(hex(there.set), hex(new Set([1, 2])))
  assert.equal(hex(there.array), hex(['a', [1]]))
  assert.deepEqual(decode(vm.runInNewContext('new Uint8Array([0x70, 0x61])')), 'a')
})

test('a hole in an array is an undefined element', () => {
  // biome-ignore lint/suspicious/noSparseArray: what this is about
  assert.equal(hex([1, , 2]), hex([1, undefined, 2]))
  assert.deepEqual(decode(encode(new Array(2))), [undefined, undefined])
  refuses(new Array(2 ** 32 - 1), 'BYTEWISE_TOO_LONG')
})

test('bytes come back as a buffer of their own', () => {
  const bytes = Buffer.from(encode([Buffer.from([0, 1, 2, 254, 255]), Buffer.alloc(0)]))
  const [back, empty] = decode(bytes)
  assert.ok(Buffer.isBuffer(back))
  assert.deepEqual([...back], [0, 1, 2, 254, 255])
  assert.equal(empty.length, 0)

  const top = Buffer.from(encode(new Uint8Array([7, 8])))
  const copy = decode(top)
  top.fill(0)
  assert.deepEqual([...copy], [7, 8])
})

test('keys that charwise and ordered-binary confuse are told apart', () => {
  const confused = [
    ['a\0\0b'],
    ['a\x01b'],
    ['a\0b'],
    ['a\x01\x01b'],
    ['a'],
    'a',
    [['a']],
    'a\0',
    ['a', ''],
    ['a', null],
    []
  ]
  assert.equal(new Set(confused.map(hex)).size, confused.length)
  for (const key of confused) assert.deepEqual(decode(encode(key)), key)
})

test('sets and maps do not depend on the order of insertion', () => {
  assert.equal(hex(new Set(['b', 'a'])), hex(new Set(['a', 'b'])))
  const a = new Map([
    ['b', 1],
    ['a', [2]]
  ])
  assert.equal(
    hex(a),
    hex(
      new Map([
        ['a', [2]],
        ['b', 1]
      ])
    )
  )
  assert.deepEqual(
    [...decode(encode(a))],
    [
      ['a', [2]],
      ['b', 1]
    ]
  )
  assert.deepEqual(decode(encode([new Map(), new Set(), new Map([[new Set([1]), null]])])), [
    new Map(),
    new Set(),
    new Map([[new Set([1]), null]])
  ])
  // Two members in JavaScript may be one key.
  assert.equal(hex(new Set([new Date(1), new Date(1)])), hex(new Set([new Date(1)])))
  refuses(
    new Map([
      [new Date(1), 'a'],
      [new Date(1), 'b']
    ]),
    'BYTEWISE_INVALID_VALUE'
  )
})

test('nesting has a limit both ways, so that nothing exhausts the stack', () => {
  const deepest = nest(MAX_DEPTH)
  const bytes = encode(deepest)
  assert.deepEqual(encode(decode(bytes)), bytes)
  refuses(nest(MAX_DEPTH + 1), 'BYTEWISE_TOO_DEEP')
  refuses(nest(MAX_DEPTH, new Map([[1, new Set()]])), 'BYTEWISE_TOO_DEEP')
  refuses(nest(100_000), 'BYTEWISE_TOO_DEEP')
  const endless = []
  endless.push(1, endless)
  refuses(endless, 'BYTEWISE_TOO_DEEP')

  for (const typeByte of [0xa0, 0x90, 0xc0]) {
    for (const count of [MAX_DEPTH + 1, 10_000_000]) {
      const deep = Buffer.alloc(count * 2, typeByte).fill(0, count)
      assert.throws(() => decode(deep), { code: 'BYTEWISE_DAMAGED', offset: MAX_DEPTH })
    }
  }
})

test('long keys come back, and those over the limit are refused', () => {
  const parts = ['x', 'é', '漢', '\u{1f600}', '\0', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(65)]
  for (const part of parts) {
    for (const count of [1, 7, 8, 15, 16, 17, 23, 24, 25, 63, 64, 65, 5000, scaled(100_000, 20_000)]) {
      const text = part.repeat(count)
      assert.equal(decode(encode(text)), text)
      const array = [text, Buffer.from(text), 1, text]
      assert.deepEqual(decode(encode(array)), array)
    }
  }
  assert.equal(encode(Buffer.alloc(MAX_KEY_SIZE_BYTES - 1)).length, MAX_KEY_SIZE_BYTES)
  refuses(Buffer.alloc(MAX_KEY_SIZE_BYTES), 'BYTEWISE_TOO_LONG')
  refuses('x'.repeat(MAX_KEY_SIZE_BYTES), 'BYTEWISE_TOO_LONG')
  refuses('x'.repeat(MAX_KEY_SIZE_BYTES * 2), 'BYTEWISE_TOO_LONG')
  refuses([Buffer.alloc(MAX_KEY_SIZE_BYTES / 2)], 'BYTEWISE_TOO_LONG')
  refuses(new Array(20).fill(Buffer.alloc(MAX_KEY_SIZE_BYTES / 10)), 'BYTEWISE_TOO_LONG')
  // Of exactly the limit, which the type byte exceeds, all numbers are converted before they are refused.
  refuses(new Float64Array(MAX_KEY_SIZE_BYTES / 8 + (isShort ? 1 : 0)), 'BYTEWISE_TOO_LONG')
  // The next key has nothing of the refused ones.
  assert.equal(hex('a'), '7061')
})

test('encoding a key within another, or after one that failed, changes nothing', () => {
  let inner
  const key = new Proxy(['a', 'b'], {
    get(target, property) {
      if (property === '0') inner = hex(['x'.repeat(10_000), 1])
      return target[property]
    }
  })
  assert.equal(hex(['before', key, 'behind']), hex(['before', ['a', 'b'], 'behind']))
  assert.equal(inner, hex(['x'.repeat(10_000), 1]))

  refuses(['a', 'b', Symbol('c')], 'BYTEWISE_UNSUPPORTED_TYPE')
  assert.equal(hex('a'), '7061')
  refuses([lower(), 1], 'BYTEWISE_INVALID_BOUND')
  assert.equal(hex(['a', 'b']), 'a0706100706200' + '00')
})

test('keys that were encoded do not change when others are', () => {
  const keys = Array.from({ length: 2000 }, (_, i) => encode(['key', i]))
  for (let i = 0; i < keys.length; i++) assert.deepEqual(decode(keys[i]), ['key', i])
})

test('a bound stands alone or at the end of arrays', () => {
  refuses([lower(), 1], 'BYTEWISE_INVALID_BOUND')
  refuses([[upper('a')], 1], 'BYTEWISE_INVALID_BOUND')
  refuses(new Set([lower()]), 'BYTEWISE_INVALID_BOUND')
  refuses(new Map([['a', upper()]]), 'BYTEWISE_INVALID_BOUND')
  refuses(lower(upper()), 'BYTEWISE_INVALID_BOUND')
  refuses(lower(['a', upper()]), 'BYTEWISE_INVALID_BOUND')
  assert.equal(hex(['a', upper()]), 'a0706100ff00')
  assert.equal(hex([['a', upper()]]), 'a0a0706100ff0000')
  assert.equal(hex(upper(undefined)), 'f0ff')
  assert.throws(() => decode(encode(upper())), { code: 'BYTEWISE_DAMAGED', offset: 0 })
  assert.throws(() => decode(encode(['a', upper()])), { code: 'BYTEWISE_DAMAGED' })
})

test('only a Uint8Array is decoded', () => {
  for (const value of ['7061', [0x70], undefined, null, 5, new Uint16Array(1), new ArrayBuffer(2), {}]) {
    assert.throws(() => decode(value), { code: 'BYTEWISE_INVALID_ARGUMENT' })
  }
})

test('no key is kept alive by having been decoded or refused', async () => {
  const watched = (() => {
    const bytes = new Uint8Array([0x70, 0x61])
    decode(bytes)
    const damagedBytes = new Uint8Array([0x70, 0xff])
    assert.throws(() => decode(damagedBytes))
    return [new WeakRef(bytes), new WeakRef(damagedBytes)]
  })()
  for (let i = 0; i < 20 && watched.some((ref) => ref.deref() !== undefined); i++) {
    await new Promise((resolve) => setImmediate(resolve))
    globalThis.gc()
  }
  assert.deepEqual(
    watched.map((ref) => ref.deref()),
    [undefined, undefined]
  )
})
