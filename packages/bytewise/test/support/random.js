// Random keys of every kind, repeatable by their seed.

/** A generator of random numbers (xorshift, 32 bits). */
export function generator(seed) {
  let state = seed | 0 || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  return { below: (limit) => next() % limit, pick: (list) => list[next() % list.length], next }
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  -0.1,
  2 ** 53,
  -(2 ** 53),
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  2.225e-308,
  -2.225e-308,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.EPSILON,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY
]
const TIMES = [0, 1, -1, 8.64e15, -8.64e15, 1.7e12, -1.7e12]
const CHARACTERS = [
  'a',
  'b',
  'z',
  '\0',
  '\x01',
  '\x02',
  '\x7f',
  '\x80',
  '\xff',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ue000',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
  'é',
  '漢'
]
const BYTES = [0, 1, 2, 0x10, 0x60, 0x70, 0xa0, 0xfd, 0xfe, 0xff]

const double = new DataView(new ArrayBuffer(8))

function number(random) {
  if (random.below(3) === 0) return random.pick(NUMBERS)
  if (random.below(2) === 0) return random.below(2001) - 1000
  double.setUint32(0, random.next())
  double.setUint32(4, random.next())
  const value = double.getFloat64(0)
  return Number.isNaN(value) ? 0 : value
}

function string(random) {
  const length = random.below(8) === 0 ? random.below(200) : random.below(12)
  const isAscii = random.below(2) === 0
  return Array.from({ length }, () =>
    isAscii ? String.fromCharCode(random.below(128)) : random.pick(CHARACTERS)
  ).join('')
}

function bytes(random) {
  const length = random.below(8) === 0 ? random.below(200) : random.below(10)
  return Buffer.from(Array.from({ length }, () => (random.below(2) ? random.pick(BYTES) : random.below(256))))
}

/** A key of a type that npm bytewise 1.1 has, too. */
export function bytewiseKey(random, depth = 0) {
  switch (random.below(depth > 3 ? 8 : 11)) {
    case 0:
      return random.pick([null, false, true, undefined])
    case 1:
    case 2:
      return number(random)
    case 3:
      return new Date(random.below(2) ? random.pick(TIMES) : (random.next() - 2 ** 31) * 1000)
    case 4:
      return bytes(random)
    case 5:
    case 6:
    case 7:
      return string(random)
    default:
      return Array.from({ length: random.below(6) }, () => bytewiseKey(random, depth + 1))
  }
}
