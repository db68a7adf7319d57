// What snapshots and iterators show while batches are written: one state each, never a part of a batch.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertManySnapshots,
  assertNothingTorn,
  testSnapshots
} from '../../../../tests/support/back-ends/snapshots.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { until } from '../../../../tests/support/waiting.mjs'
import { openLevel, pause } from './support/databases.js'

testSnapshots({ test, openLevel })

test('no snapshot, iterator or getMany is torn under concurrent batches', async (t) => {
  await assertNothingTorn(t, await openLevel(t), { isSync: true })
})

test('no batch is torn that is so large that lmdb begins to write it before it is complete', async (t) => {
  const db = await openLevel(t)
  const keys = Array.from({ length: 6000 }, (_, i) => `k${String(i).padStart(5, '0')}`)
  const counts = { reads: 0, torn: 0, states: new Set() }
  let isWriting = true
  const reading = (async () => {
    while (isWriting) {
      const values = new Set(await db.values({ lt: 'l' }).all())
      counts.reads++
      if (values.size > 1) counts.torn++
      counts.states.add([...values].join())
      await pause(1)
    }
  })()

  let round = 0
  const write = async () => {
    const value = `${round++}`
    // Single writes before and after it keep the thread at work.
    await Promise.all([
      ...keys.slice(0, 50).map((key) => db.put(`x${key}`, '')),
      db.batch(keys.map((key) => ({ type: 'put', key, value }))),
      ...keys.slice(0, 50).map((key) => db.put(`y${key}`, ''))
    ])
  }
  while (round < scaled(20, 8)) await write()
  await until(async () => {
    if (counts.states.size > 5) return true
    await write()
  }, 'the reader to see more states')
  isWriting = false
  await reading
  t.diagnostic(`${counts.reads} reads of ${counts.states.size} states, ${counts.torn} torn`)
  assert.equal(counts.torn, 0)
})

test('many snapshots of different states are open at once', async (t) => {
  await assertManySnapshots(await openLevel(t), scaled(300, 100), { isSync: true })
})

test('more states than maxReaders allows are a clear error, which passes', async (t) => {
  const db = await openLevel(t, { maxReaders: 5 })
  const snapshots = []
  const open = async () => {
    for (let i = 0; i < 50; i++) {
      await db.put('key', `${i}`)
      snapshots.push(db.snapshot())
    }
  }
  await assert.rejects(open, { code: 'LEVEL_TOO_MANY_READERS' })
  assert.ok(snapshots.length >= 2 && snapshots.length <= 5)
  await Promise.all(snapshots.map((snapshot) => snapshot.close()))
  const snapshot = db.snapshot()
  assert.equal(typeof db.getSync('key', { snapshot }), 'string')
})
