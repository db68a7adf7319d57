// What the server accepts in one transaction.

import assert from 'node:assert/strict'
import { mariadb, theProduct } from './cluster/products.js'
import { openLevel, test } from './support/databases.js'
import { BINLOG_CACHE_BYTES, loggingServer } from './support/limits.js'

test('a batch that is larger than the server takes is refused, and nothing of it is written', async (t) => {
  const { url } = await loggingServer()
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

  // Smaller batches keep working, on the same connections.
  await db.batch(operations.slice(0, 20))
  assert.equal((await db.keys().all()).length, 20)
})

test('puts at once and clears do not fail with LEVEL_BATCH_TOO_LARGE because they share a transaction', async (t) => {
  const { url } = await loggingServer()
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

  // A value that does not fit fails without affecting others. MySQL checks the limit between rows, so any single
  // value fits there.
  const isRefused = theProduct === mariadb
  const calls = [db.put('a', '1'), db.put('b', 'x'.repeat(2 * BINLOG_CACHE_BYTES)), db.put('c', '3')]
  const outcomes = await Promise.allSettled(calls)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', isRefused ? 'rejected' : 'fulfilled', 'fulfilled']
  )
  assert.deepEqual(await db.keys().all(), isRefused ? ['a', 'c'] : ['a', 'b', 'c'])
})
