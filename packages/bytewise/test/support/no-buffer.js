// Uses the build of the package that the first argument names, without Buffer, as browsers do. Succeeds if everything is right.

import assert from 'node:assert/strict'

delete globalThis.Buffer
const { bytewise, decode, encode } = await import(process.argv[2])

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

for (const part of ['', 'a', '\0', '\x01', 'é', '漢', '\u{1f600}', '\ufeff', '\ufffd']) {
  for (const count of [1, 3, 8, 25, 64, 65, 1000]) {
    const key = [part.repeat(count), new Uint8Array(count).fill(255), [count, -count, new Date(count)], null]
    const bytes = encode(key)
    assert.equal(Object.getPrototypeOf(bytes), Uint8Array.prototype)
    assert.deepStrictEqual(decode(bytes), key)
    assert.deepStrictEqual(bytewise.decode(bytewise.encode(key[0])), key[0])
  }
}

assert.equal(hex(encode(['foo', -1.5])), 'a070666f6f0041c007ffffffffffff00')
assert.deepStrictEqual(decode(encode(Uint8Array.of(1, 2))), Uint8Array.of(1, 2))
for (const size of [1, 30, 100]) {
  const damaged = encode('x'.repeat(size))
  damaged[size] = 0xff
  assert.throws(() => decode(damaged), { code: 'BYTEWISE_DAMAGED' })
  assert.throws(() => encode('\ud800'.padEnd(size, 'x')), { code: 'BYTEWISE_INVALID_STRING' })
}
