// Keys and values as the table stores them.

import assert from 'node:assert/strict'
import { MAX_KEY_SIZE_BYTES } from 'terrace-mysql'
import { testKeys, testValues } from '../../../../tests/support/back-ends/keys.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { openLevel, test, theServer } from './support/databases.js'

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
const histories = { rounds: 1, writes: 300, ranges: scaled(1000, 200) }
testKeys({ test, openLevel, longestBytes: MAX_KEY_SIZE_BYTES, histories })

// The larger ones travel apart from their statements.
testValues({ test, openLevel, sizes: [0, 1, 4096, 70_000, 300_000, 8 << 20, 15_000_000] })

test('values and batches beyond what the server takes are refused, and nothing of them is written', async (t) => {
  const server = await theServer()
  const [{ Value }] = await server.query("SHOW VARIABLES LIKE 'max_allowed_packet'")
  const db = await openLevel(t, buffers)
  const tooLarge = Buffer.alloc(Number(Value) - 8191)
  const key = Buffer.from('key')
  const calls = [
    () => db.put(key, tooLarge),
    () =>
      db.batch([
        { type: 'put', key: Buffer.from('a'), value: key },
        { type: 'put', key, value: tooLarge }
      ])
  ]
  for (const call of calls) await assert.rejects(call, { code: 'LEVEL_VALUE_TOO_LARGE' })
  assert.deepEqual(await db.keys().all(), [])
  assert.equal(await db.has(key), false)
})

test('a batch of many packets is whole, and so is one of quotes and backslashes alone', async (t) => {
  const db = await openLevel(t, { ...buffers, deadlineMs: HANG_MS })
  const bytes = Buffer.from(
    Array.from({ length: 200_000 }, (_, i) => [0x27, 0x5c, 0, 0x1a, 0xbf, 0x27][i % 6])
  )
  const operations = Array.from({ length: 150 }, (_, i) => {
    const key = Buffer.concat([Buffer.from(`${i}`), bytes.subarray(i, i + 20)])
    return { type: 'put', key, value: bytes.subarray(i, 100_000 + i * 3) }
  })
  await db.batch(operations)
  const found = new Map((await db.iterator().all()).map(([key, value]) => [key.latin1Slice(), value]))
  assert.equal(found.size, 150)
  for (const { key, value } of operations) assert.ok(value.equals(found.get(key.latin1Slice())))
  await db.batch(operations.map(({ key }) => ({ type: 'del', key })))
  assert.deepEqual(await db.keys().all(), [])
})
