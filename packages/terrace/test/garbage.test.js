// What JavaScript loses is released; what it still waits for is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Level } from 'terrace'
import { turns, until } from '../../../tests/support/waiting.mjs'
import { entries, newLevel, openLevel, temporaryDirectory } from './support/databases.js'

const collect = globalThis.gc

test('these tests run with --expose-gc', () => assert.equal(typeof collect, 'function'))

test('a chained batch that is being written outlives its reference', async (t) => {
  const db = await openLevel(t)
  let batch = db.batch()
  for (let i = 0; i < 1000; i++) batch.put(String(i), 'value')
  const written = batch.write({ sync: true })
  batch = null
  collect()
  await written

  assert.equal((await db.keys().all()).length, 1000)
})

test('a database outlives its reference while it works', async (t) => {
  const location = temporaryDirectory(t)
  let db = new Level(location)
  await db.open()
  await db.batch(entries(1000))
  const iterator = db.iterator({ highWaterMarkBytes: 0 })
  const cleared = db.clear()
  db = null
  collect()

  assert.equal((await iterator.all()).length, 1000)
  await cleared
  collect()
  assert.deepEqual(await iterator.db.keys().all(), [])
  await iterator.db.close()
})

test('a database that was lost is closed', async (t) => {
  const location = temporaryDirectory(t)

  await (async () => {
    const lost = new Level(location)
    await lost.open()
    await lost.batch(entries(100))
    lost.snapshot()
    await lost.iterator().nextv(10)
    lost.batch().put('a', 'b')
  })()

  const db = newLevel(t, undefined, location)

  // Collection takes a while: finalizers run in later turns, and closing on another thread.
  const isOpened = async () => {
    collect()
    await turns()
    await db.open().catch((error) => assert.equal(error.cause.code, 'LEVEL_LOCKED'))
    return db.status === 'open'
  }
  await until(isOpened, 'the lost database to be closed')

  assert.equal((await db.keys().all()).length, 100)
})

test('iterators that are read to some point and lost do no harm', async (t) => {
  const db = await openLevel(t)
  await db.batch(entries(100))

  for (let i = 0; i < 200; i++) {
    db.iterator({ highWaterMarkBytes: 0 }).next()
    if (i % 20 === 0) collect()
  }

  await turns(10)
  collect()
  assert.equal((await db.keys().all()).length, 100)
})
