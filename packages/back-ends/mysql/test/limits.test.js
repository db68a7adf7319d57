// What the server takes at once, and how much memory a walk and a clear need.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test as nodeTest } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clusterMissing, startCluster } from './cluster/index.js'
import { mariadb, theProduct } from './cluster/products.js'
import { openLevel, test, theServer } from './support/databases.js'
import { UNSYNCED } from './support/server.js'

const CACHE_BYTES = 1 << 20
const WALK = fileURLToPath(new URL('support/walk.js', import.meta.url))
const MIB = 1 << 20

/** With a binary log, the server takes no transaction that is larger than a cache of this size. */
const server = () =>
  theServer({
    args: [...UNSYNCED, '--log-bin', '--binlog-format=ROW', `--max-binlog-cache-size=${CACHE_BYTES}`]
  })

test('a batch that is larger than the server takes is refused, and nothing of it is written', async (t) => {
  const { url } = await server()
  const db = await openLevel(t, {}, url)
  await db.put('k000', 'before')
  const value = 'x'.repeat(20_000)
  const operations = Array.from({ length: 200 }, (_, i) => ({
    type: 'put',
    key: `k${String(i).padStart(3, '0')}`,
    value
  }))
  const calls = [
    () => db.batch(operations),
    () => db.batch([...operations, { type: 'del', key: 'k000' }]),
    () => operations.reduce((chain, { key }) => chain.put(key, value), db.batch()).write()
  ]
  for (const call of calls) await assert.rejects(call, { code: 'LEVEL_BATCH_TOO_LARGE' })
  assert.deepEqual(await db.iterator().all(), [['k000', 'before']])

  // Smaller ones go on, in the same connections.
  await db.batch(operations.slice(0, 20))
  assert.equal((await db.keys().all()).length, 20)
})

test('puts at once and clears do not fail with LEVEL_BATCH_TOO_LARGE because they share a transaction', async (t) => {
  const { url } = await server()
  const db = await openLevel(t, {}, url)
  const keys = Array.from({ length: 300 }, (_, i) => `k${String(i).padStart(3, '0')}`)
  const put = () => Promise.all(keys.map((key) => db.put(key, 'x'.repeat(20_000))))
  await put()
  assert.deepEqual(await db.keys().all(), keys)
  await db.clear({ limit: 200, reverse: true })
  assert.deepEqual(await db.keys().all(), keys.slice(0, 100))
  await put()
  await db.clear()
  assert.deepEqual(await db.keys().all(), [])

  // One that does not fit fails alone. MySQL looks at the limit between rows, so there each value fits that is alone.
  const isRefused = theProduct === mariadb
  const calls = [db.put('a', '1'), db.put('b', 'x'.repeat(2 * CACHE_BYTES)), db.put('c', '3')]
  const outcomes = await Promise.allSettled(calls)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', isRefused ? 'rejected' : 'fulfilled', 'fulfilled']
  )
  assert.deepEqual(await db.keys().all(), isRefused ? ['a', 'c'] : ['a', 'b', 'c'])
})

nodeTest(
  'a batch larger than a cluster takes fails with LEVEL_BATCH_TOO_LARGE instead of LEVEL_IO_ERROR',
  {
    skip: clusterMissing() ?? false
  },
  async (t) => {
    const cluster = await startCluster({ size: 1 })
    t.after(() => cluster.stop())
    await cluster.nodes[0].query(`SET GLOBAL wsrep_max_ws_size=${CACHE_BYTES}`)
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
  const { url } = await server()
  const name = 'much'
  const db = await openLevel(t, { name, deadlineMs: 60_000 }, url)
  const value = 'x'.repeat(10 << 10)
  for (let i = 0; i < 20_000; i += 50) {
    const keys = Array.from({ length: 50 }, (_, j) => `k${String(i + j).padStart(6, '0')}`)
    await db.batch(keys.map((key) => ({ type: 'put', key, value })))
  }

  const output = execFileSync(process.execPath, ['--max-old-space-size=64', WALK, url, name], {
    encoding: 'utf8',
    timeout: 120_000
  })
  const { walks, grownBytes, left } = JSON.parse(output)
  t.diagnostic(output)
  assert.deepEqual(walks, { entries: 20_000, reversed: 20_000, keys: 20_000 })
  assert.equal(left, 0)
  assert.deepEqual(await db.keys().all(), [])
  // The values are 200 MB.
  assert.ok(grownBytes < 70 * MIB, `${grownBytes} bytes`)
})
