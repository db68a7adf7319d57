// Keys, and ranges of them over a log and tables.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_KEY_SIZE_BYTES } from 'terrace-slatedb'
import { testKeys, testValues } from '../../../../tests/support/back-ends/keys.mjs'
import { openLevel } from './support/databases.js'

const histories = { rounds: 8, writes: 40, ranges: 60 }

/** What was in the log becomes a table. The last round stays in the log. */
async function between(db, round) {
  if (round === histories.rounds - 1) return
  await db.close()
  await db.open()
}

testKeys({ test, openLevel, longestBytes: MAX_KEY_SIZE_BYTES, histories, between })
testValues({ test, openLevel, sizes: [0, 1, 4096, 70_000, 6_000_000] })

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
