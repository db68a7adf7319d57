// Compares this package with npm bytewise 1.1.0 on random keys, both ways:
//
//   node test/support/differential.js [KEYS] [SEED]
//
// Each key must be encoded to the same bytes, and each decoder must make the same of them. Of keys beside each other, the
// bytes must compare alike; of prefixes, the bounds must be the same.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import original from 'bytewise'
import { decode, encode, lower, upper } from 'terrace-bytewise'
import { bytewiseKey, generator } from './random.js'

const hex = (bytes) => Buffer.from(bytes).toString('hex')

/** Compares `count` random keys. Returns their total size in bytes. Throws at the first difference. */
export function compare(count, seed) {
  const random = generator(seed)
  let sizeBytes = 0
  for (let i = 0; i < count; i++) {
    const key = bytewiseKey(random)
    const expected = original.encode(key)
    const actual = encode(key)
    sizeBytes += actual.length
    if (!actual.equals(expected)) assert.equal(hex(actual), hex(expected), `key ${i} of seed ${seed}`)

    const decoded = decode(expected)
    assert.deepStrictEqual(decoded, original.decode(actual), `key ${i} of seed ${seed}`)
    if (!encode(decoded).equals(expected)) assert.fail(`key ${i} of seed ${seed} is decoded to another one`)
    compareBounds(key)
  }
  return sizeBytes
}

/** Bounds of arrays and strings. For bytes npm's upper bound is too low, and for empty ones it is not a bound at all. */
function compareBounds(key) {
  const { array, string } = original.sorts
  const { bound } = Array.isArray(key) ? array : typeof key === 'string' && key !== '' ? string : {}
  if (bound === undefined) return
  assert.equal(hex(encode(lower(key))), hex(original.encode(bound.lower(key))))
  assert.equal(hex(encode(upper(key))), hex(original.encode(bound.upper(key))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const count = Number(process.argv[2] ?? 1_000_000)
  const seed = Number(process.argv[3] ?? 1)
  const sizeBytes = compare(count, seed)
  console.log(`${count} keys, ${sizeBytes} bytes: the same as npm bytewise 1.1.0, both ways (seed ${seed})`)
}
