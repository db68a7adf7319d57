// The memory of a WebAssembly module has keys and values of former calls. Whatever comes to its door, it is never sent more than was copied.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeBatch, storeOne, storeTwo } from '../../dist/browser/wasm/arguments.js'
import { makeStore } from '../support/page.js'

const SECRET = 'a secret of somebody else, which is long enough'
const raw = { keyEncoding: 'view', valueEncoding: 'view' }
const refusal = { code: 'LEVEL_INTERNAL_ERROR' }

/** What is not bytes: views whose elements are larger, or that `set()` would take for lists, and what is no view at all. */
const others = {
  'a Float32Array': new Float32Array([1.5, -2, 1000]),
  'a Uint16Array': new Uint16Array([1, 258]),
  'a BigInt64Array': new BigInt64Array(3),
  'a Uint8ClampedArray': new Uint8ClampedArray(24),
  'a DataView': new DataView(new ArrayBuffer(24)),
  'an ArrayBuffer': new ArrayBuffer(24),
  'an array': [1, 2, 3],
  'an object with a length': { length: 2, byteLength: 24 },
  'a number': 24
}

for (const [kind, other] of Object.entries(others)) {
  test(`${kind} is refused as a key, a value or a bound, and nothing is written or looked for`, async () => {
    const store = await makeStore()
    store.writeSync(['password', SECRET, 'second', SECRET], false)
    const calls = {
      value: () => store.write(['k', other], false),
      'second value': () => store.write(['a', 'b', 'k', other], false),
      key: () => store.write([other, 'v'], false),
      'key to delete': () => store.write([other, null], false),
      get: () => store.get(other, raw),
      has: () => store.has(other, raw),
      getMany: () => store.getMany(['password', other], raw),
      bound: () => store.cursor({ ...raw, reverse: false, gte: other }, 'entries'),
      'upper bound': () => store.cursor({ ...raw, reverse: false, gte: 'a', lt: other }, 'entries'),
      seek: () => {
        const cursor = store.cursor({ ...raw, reverse: false }, 'keys')
        try {
          cursor.seek(other)
        } finally {
          cursor.close()
        }
      },
      rangeSize: () => store.rangeSize('a', other)
    }
    for (const [way, call] of Object.entries(calls)) {
      await assert.rejects(async () => call(), refusal, way)
    }
    assert.equal(store.stats().entries, 2)
    // It still works.
    store.writeSync(['password', 'changed'], false)
    assert.equal(await store.get('password', { keyEncoding: 'utf8', valueEncoding: 'utf8' }), 'changed')
  })
}

test('the length of what is stored is that of what was copied, with views in the middle of larger memory as well', () => {
  const room = { memory: new Uint8Array(4096).fill(0xee), room: () => 0 }
  const bytes = new Uint8Array(64).fill(0x11).subarray(8, 24)
  assert.equal(storeOne(room, bytes), 16)
  assert.deepEqual([room.memory[15], room.memory[16]], [0x11, 0xee])
  assert.deepEqual(storeTwo(room, Buffer.from('ab'), 'é'), [2, 2])
  assert.equal(room.memory[4], 0x11)
  // A header of 12 bytes, the kind, and keys and values with lengths of one byte.
  room.memory.fill(0xee)
  assert.equal(storeBatch(room, [bytes, bytes, 'é', null]), 12 + 1 + 17 + 17 + 1 + 3)
  assert.equal(room.memory[51], 0xee)
})
