// How much a cluster takes at once, and how much memory a walk and a clear need. Long, because a cluster takes its time to start, and
// 200 MB are written.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test as nodeTest } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../../../../tests/support/waiting.mjs'
import { clusterMissing, startCluster } from './cluster/index.js'
import { openLevel, test } from './support/databases.js'
import { BINLOG_CACHE_BYTES, loggingServer } from './support/limits.js'

const WALK = fileURLToPath(new URL('support/walk.js', import.meta.url))
const MIB = 1 << 20

nodeTest(
  'a batch larger than a cluster takes fails with LEVEL_BATCH_TOO_LARGE instead of LEVEL_IO_ERROR',
  {
    skip: clusterMissing() ?? false
  },
  async (t) => {
    const cluster = await startCluster({ size: 1 })
    t.after(() => cluster.stop())
    await cluster.nodes[0].query(`SET GLOBAL wsrep_max_ws_size=${BINLOG_CACHE_BYTES}`)
    const db = await openLevel(t, {}, cluster.url)
    await db.put('a', '1')
    const keys = Array.from({ length: 200 }, (_, i) => `k${i}`)
    const value = 'x'.repeat(20_000)
    const batch = db.batch(keys.map((key) => ({ type: 'put', key, value })))
    await assert.rejects(batch, { code: 'LEVEL_BATCH_TOO_LARGE' })
    assert.deepEqual(await db.keys().all(), ['a'])

    await Promise.all(keys.map((key) => db.put(key, value)))
    assert.equal((await db.keys().all()).length, 201)
    await db.clear()
    assert.deepEqual(await db.keys().all(), [])
    await db.close()
  }
)

test('walks over much data, and its clear, need little memory', async (t) => {
  const { url } = await loggingServer()
  const name = 'much'
  const db = await openLevel(t, { name, deadlineMs: HANG_MS }, url)
  const value = 'x'.repeat(10 << 10)
  for (let i = 0; i < 20_000; i += 50) {
    const keys = Array.from({ length: 50 }, (_, j) => `k${String(i + j).padStart(6, '0')}`)
    await db.batch(keys.map((key) => ({ type: 'put', key, value })))
  }

  const output = execFileSync(process.execPath, ['--max-old-space-size=64', WALK, url, name], {
    encoding: 'utf8',
    timeout: HANG_MS
  })
  const { walks, grownBytes, left } = JSON.parse(output)
  t.diagnostic(output)
  assert.deepEqual(walks, { entries: 20_000, reversed: 20_000, keys: 20_000 })
  assert.equal(left, 0)
  assert.deepEqual(await db.keys().all(), [])
  // The values are 200 MB.
  assert.ok(grownBytes < 70 * MIB, `${grownBytes} bytes`)
})
