// Arbitrary keys of every kind for fast-check.

import fc from 'fast-check'

const unit = fc.oneof(
  fc.constantFrom(
    '\0',
    '\x01',
    '\x02',
    '\x7f',
    '\x80',
    '\u07ff',
    '\u0800',
    '\ufeff',
    '\uffff',
    '\u{10000}',
    '\u{10ffff}'
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })
)
const text = fc.oneof(
  fc.string({ unit, maxLength: 8 }),
  fc.string({ unit, minLength: 20, maxLength: 80 }),
  fc.string()
)

const byte = fc.oneof(fc.constantFrom(0, 1, 2, 0xfd, 0xfe, 0xff), fc.nat({ max: 255 }))
const bytes = fc.array(byte, { maxLength: 12 }).map((list) => Buffer.from(list))

const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    Number.MIN_VALUE,
    -Number.MIN_VALUE,
    2.225e-308,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY
  )
)

const floats = { noNaN: true, maxLength: 4 }
const typedArray = fc.oneof(
  fc.int8Array({ maxLength: 4 }),
  fc.uint8ClampedArray({ maxLength: 4 }),
  fc.int16Array({ maxLength: 4 }),
  fc.uint16Array({ maxLength: 4 }),
  fc.int32Array({ maxLength: 4 }),
  fc.uint32Array({ maxLength: 4 }),
  fc.bigInt64Array({ maxLength: 4 }),
  fc.bigUint64Array({ maxLength: 4 }),
  fc.float32Array(floats),
  fc.float64Array(floats)
)

const bigint = fc.oneof(
  fc.bigInt({ min: -300n, max: 300n }),
  fc.bigInt(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc
    .tuple(fc.boolean(), fc.integer({ min: 2000, max: 2100 }))
    .map(([negative, bits]) => (negative ? -1n : 1n) * 2n ** BigInt(bits))
)

const scalar = fc.oneof(
  fc.constantFrom(null, undefined, false, true),
  number,
  bigint,
  fc.date({ noInvalidDate: true }),
  bytes,
  typedArray,
  text
)

/** A key of any kind, including nested keys. */
export const key = fc.letrec((tie) => ({
  key: fc.oneof({ maxDepth: 4, depthSize: 'small' }, scalar, tie('array'), tie('set'), tie('map')),
  array: fc.array(tie('key'), { maxLength: 5 }),
  set: fc.array(tie('key'), { maxLength: 4 }).map((list) => new Set(list)),
  map: fc
    .uniqueArray(fc.tuple(tie('mapKey'), tie('key')), { maxLength: 4, selector: ([mapKey]) => mapKey })
    .map((list) => new Map(list)),
  mapKey: fc.oneof(text, fc.integer())
})).key
