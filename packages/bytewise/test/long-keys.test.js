// Long keys of each kind are decoded in time that grows with their length and does not much exceed the time of encoding them:
// whatever was stored can be read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from 'terrace-bytewise'

const SIZE_BYTES = 4 << 20

/** Decoding a BigInt used to take 16 times as long as encoding it. Now it takes about as long. */
const MAX_RATIO = 4

/** The time that a garbage collection may add to either. */
const ALLOWANCE_MS = 200

const bytes = Uint8Array.from({ length: SIZE_BYTES }, (_, index) => (index * 31) & 0xff)
const hex = Buffer.from(bytes.map((byte) => byte | 1)).toString('hex')
const numbers = new Float64Array(SIZE_BYTES / 8).map((_, index) => index - 1000)

const kinds = {
  'a BigInt': () => BigInt(`0x${hex}`),
  'a negative BigInt': () => -BigInt(`0x${hex}`),
  'an ASCII string': () => 'terrace '.repeat(SIZE_BYTES / 8),
  'a string of other characters': () => 'ключ漢\u{1f600}'.repeat(SIZE_BYTES / 16),
  bytes: () => bytes,
  'a typed array': () => numbers,
  'an array of numbers': () => Array.from(numbers),
  'an array of strings': () => Array.from({ length: SIZE_BYTES / 16 }, (_, index) => `entry ${index}`),
  'an array with a long string': () => ['a\0b\x01'.repeat(SIZE_BYTES / 4)],
  'an array with long bytes': () => [bytes],
  'a set': () => new Set(Array.from({ length: SIZE_BYTES / 64 }, (_, index) => index)),
  'a map': () => new Map(Array.from({ length: SIZE_BYTES / 64 }, (_, index) => [index, 'value']))
}

const timed = (run) => {
  const begin = performance.now()
  const result = run()
  return [result, performance.now() - begin]
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind} of megabytes is decoded about as fast as it is encoded`, () => {
    const key = make()
    const times = { encode: Infinity, decode: Infinity }

    for (let round = 0; round < 2; round++) {
      const [encoded, encodeMs] = timed(() => encode(key))
      const [decoded, decodeMs] = timed(() => decode(encoded))
      times.encode = Math.min(times.encode, encodeMs)
      times.decode = Math.min(times.decode, decodeMs)
      if (round === 0) assert.ok(Buffer.from(encode(decoded)).equals(encoded))
    }

    const message = `${times.encode.toFixed(0)} ms to encode, ${times.decode.toFixed(0)} ms to decode`
    assert.ok(times.decode <= MAX_RATIO * times.encode + ALLOWANCE_MS, message)
  })
}
