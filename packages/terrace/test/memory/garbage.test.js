// Instances of MemoryLevel that are never closed. In a separate file, because other tests would add to the
// memory that is measured.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MemoryLevel } from 'terrace'
import { scaled } from '../../../../tests/support/form.mjs'

const MIB = 1 << 20

test('V8 knows what instances hold, and collects those that nobody uses any more without being asked', async () => {
  const value = Buffer.alloc(50_000, 1)
  const fill = async () => {
    const db = new MemoryLevel({ valueEncoding: 'buffer' })
    await db.open()
    for (let i = 0; i < 1000; i++) db.putSync(`key ${i}`, value)
  }

  let most = 0
  // 50 MB each, 4 GB in all; in the short form 3 GB.
  for (let i = 0; i < scaled(80, 60); i++) {
    await fill()
    await nextTurn()
    most = Math.max(most, process.memoryUsage().rss)
  }
  assert.ok(most < 2000 * MIB, `${most} bytes`)
})
