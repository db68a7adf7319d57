// What snapshots and iterators show during writes of batches: one state each, never part of a batch.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  assertManySnapshots,
  assertNothingTorn,
  testSnapshots
} from '../../../../tests/support/back-ends/snapshots.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { until } from '../../../../tests/support/waiting.mjs'
import { openLevel } from './support/databases.js'

testSnapshots({ test, openLevel })

for (const acknowledge of ['store', 'memory']) {
  test(`no snapshot, iterator or getMany is torn under concurrent batches, acknowledged in ${acknowledge}`, async (t) => {
    await assertNothingTorn(t, await openLevel(t, { acknowledge }), { leastReads: 50 })
  })
}

test('many snapshots of different states are open at once', async (t) => {
  await assertManySnapshots(await openLevel(t), scaled(200, 60))
})

test('a snapshot and an iterator outlast compactions, which replace the tables that they show', async (t) => {
  const db = await openLevel(t, { pollIntervalMs: 50 })
  const keys = Array.from({ length: 100 }, (_, i) => `k${String(i).padStart(3, '0')}`)
  const all = (value) => keys.map((key) => ({ type: 'put', key, value }))
  await db.batch(all('old'))
  const snapshot = db.snapshot()
  const iterator = db.iterator()
  const first = await iterator.next()
  // Roughly a table per hundred writes, and a compaction per few tables.
  for (let i = 0; i < 1500; i++) await db.put(keys[i % 100], `${i}`)
  await db.batch(keys.slice(0, 50).map((key) => ({ type: 'del', key })))
  // Each compaction records its result in separate files. Initially, there were three.
  const files = () => readdirSync(join(db.location, 'compactions')).length
  await until(() => files() >= 9, 'two compactions')

  const old = keys.map((key) => [key, 'old'])
  assert.deepEqual(await db.iterator({ snapshot }).all(), old)
  assert.deepEqual(await db.iterator({ snapshot, reverse: true }).all(), old.toReversed())
  assert.deepEqual([first, ...(await iterator.all())], old)
  await iterator.close()
  await snapshot.close()
  assert.equal((await db.keys().all()).length, 50)
})
