// A range that is larger than what may be in memory. Long, because 20 MB are written and read twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLevel } from './support/databases.js'

test('a long range is read in pages of bounded memory, in both directions', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'buffer' })
  const value = Buffer.alloc(1000, 1)
  const keys = Array.from({ length: 20_000 }, (_, i) => `k${String(i).padStart(6, '0')}`)
  for (let i = 0; i < keys.length; i += 2000) {
    await db.batch(keys.slice(i, i + 2000).map((key) => ({ type: 'put', key, value })))
  }
  await db.close()
  await db.open()
  for (const reverse of [false, true]) {
    global.gc()
    const before = process.memoryUsage()
    let count = 0
    let most = 0
    let last
    for await (const key of db.keys({ reverse })) {
      if (last !== undefined) assert.ok(reverse ? key < last : key > last)
      last = key
      if (++count % 2000 === 0) {
        global.gc()
        const { heapUsed, external } = process.memoryUsage()
        most = Math.max(most, heapUsed + external - before.heapUsed - before.external)
      }
    }
    assert.equal(count, keys.length)
    // The values are 20 MB.
    assert.ok(most < 5_000_000, `${most} bytes`)
  }
})
