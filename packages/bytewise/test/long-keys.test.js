// Long keys of each kind are decoded in steps, and with memory, that grow no faster than their length: whatever was stored can be
// read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from 'terrace-bytewise'
import { bytesAllocatedBy } from '../../../tests/support/allocations.mjs'
import { isShort } from '../../../tests/support/form.mjs'
import { stepsOf } from '../../../tests/support/steps.mjs'

const SIZE_BYTES = isShort ? 1 << 20 : 4 << 20

/** What decoding costs is counted with shorter keys: it is the same for each byte. */
const COUNTED_BYTES = 1 << 16

/** How many steps decoding may take for each byte. It takes up to six; those of encoding are about as many. */
const MAX_STEPS = 8

/** How many bytes decoding may allocate for each byte. It takes up to eight, more or less a little; a BigInt once took 32. */
const MAX_ALLOCATED = 16

/** What it takes whatever the length. */
const ALLOWANCE = { steps: 1000, bytes: 1 << 16 }

const code = new URL('../dist/', import.meta.url)

const bytesOf = (size) => new Uint8Array(size).map((_, index) => index * 31)
const bigIntOf = (size) => BigInt(`0x${Buffer.from(bytesOf(size).map((byte) => byte | 1)).toString('hex')}`)
const numbersOf = (size) => new Float64Array(size / 8).map((_, index) => index - 1000)

/** How to make a key of each kind, of about this size. */
const kinds = {
  'a BigInt': bigIntOf,
  'a negative BigInt': (size) => -bigIntOf(size),
  'an ASCII string': (size) => 'terrace '.repeat(size / 8),
  'a string of other characters': (size) => 'ключ漢\u{1f600}'.repeat(size / 16),
  bytes: bytesOf,
  'a typed array': numbersOf,
  'an array of numbers': (size) => Array.from(numbersOf(size)),
  'an array of strings': (size) => Array.from({ length: size / 16 }, (_, index) => `entry ${index}`),
  'an array with a long string': (size) => ['a\0b\x01'.repeat(size / 4)],
  'an array with long bytes': (size) => [bytesOf(size)],
  'a set': (size) => new Set(Array.from({ length: size / 64 }, (_, index) => index)),
  'a map': (size) => new Map(Array.from({ length: size / 64 }, (_, index) => [index, 'value']))
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind} of megabytes is decoded about as fast as it is encoded`, async () => {
    const shorter = encode(make(COUNTED_BYTES))
    const steps = await stepsOf(code, () => decode(shorter))
    assert.ok(steps <= MAX_STEPS * shorter.length + ALLOWANCE.steps, `${steps} steps`)
    const allocated = await bytesAllocatedBy(() => decode(shorter))
    assert.ok(allocated <= MAX_ALLOCATED * shorter.length + ALLOWANCE.bytes, `${allocated} bytes allocated`)

    const encoded = encode(make(SIZE_BYTES))
    assert.ok(Buffer.from(encode(decode(encoded))).equals(encoded))
  })
}
