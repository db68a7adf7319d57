// What snapshots and iterators show while batches are written: one state each, never a part of a batch.

import assert from 'node:assert/strict'
import { before } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { assertNothingTorn, testSnapshots } from '../../../../tests/support/back-ends/snapshots.mjs'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { scaled } from '../../../../tests/support/form.mjs'
import { HANG_MS, until } from '../../../../tests/support/waiting.mjs'
import { serverMissing } from './cluster/index.js'
import { openLevel, openMadeLevel, test, theServer } from './support/databases.js'
import { UNSYNCED } from './support/server.js'

before(async () => {
  if (serverMissing() === undefined) await theServer({ args: UNSYNCED })
})

testSnapshots({ test, openLevel })

test('no snapshot, iterator or getMany is torn under concurrent batches', async (t) => {
  await assertNothingTorn(t, await openLevel(t))
})

test('snapshots that wait for a connection share it, and later writes wait for them', async (t) => {
  const db = await openLevel(t, { poolSize: 2 })
  await db.put('key', 'before')
  const first = db.snapshot()
  assert.equal(await db.get('key', { snapshot: first }), 'before')

  // One connection can be held, and is.
  const waiting = Array.from({ length: 50 }, () => db.snapshot())
  const write = db.put('key', 'after')
  await first.close()
  await write
  for (const snapshot of waiting) assert.equal(await db.get('key', { snapshot }), 'before')
  await Promise.all(waiting.map((snapshot) => snapshot.close()))
  assert.equal(await db.get('key'), 'after')
})

test('a snapshot and an iterator outlive the wait_timeout of the server', async (t) => {
  const server = await theServer()
  const [{ before }] = await server.query('SELECT @@GLOBAL.wait_timeout AS `before`')
  await server.query('SET GLOBAL wait_timeout=1')
  t.after(() => server.query(`SET GLOBAL wait_timeout=${before}`))
  const db = await openLevel(t)
  await db.batch(Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: `k${i}`, value: 'v' })))
  const snapshot = db.snapshot()
  const keys = db.keys()
  assert.equal(await db.get('k1', { snapshot }), 'v')
  await keys.next()

  // By the server's clock, which no test holds: until one of these sessions has been idle for longer than that.
  await until(async () => {
    const [{ idle, sessions }] = await server.query(
      "SELECT COALESCE(MAX(TIME), 0) AS idle, COUNT(*) AS sessions FROM information_schema.PROCESSLIST WHERE COMMAND='Sleep'"
    )
    return Number(idle) > 2 || Number(sessions) === 0
  })
  assert.equal(await db.get('k1', { snapshot }), 'v')
  let count = 1
  for await (const _ of keys) count++
  assert.equal(count, 3000)
  await snapshot.close()
})

test('a pool that is used up is a clear error at the deadline, and other operations go on', async (t) => {
  const clock = holdClock(t)
  const db = await openMadeLevel(t, { poolSize: 5, deadlineMs: 1000 })
  await db.put('key', 'value')
  const held = []
  for (let i = 0; i < 4; i++) {
    held.push(db.snapshot())
    await db.get('key', { snapshot: held[i] })
  }
  const more = db.snapshot()
  assert.equal(await db.get('key'), 'value')
  await assert.rejects(clock.pass(db.get('key', { snapshot: more })), {
    code: 'LEVEL_POOL_EXHAUSTED',
    message: /4 of at most 5/
  })
  await assert.rejects(clock.pass(db.iterator().all()), { code: 'LEVEL_POOL_EXHAUSTED' })
  await more.close()
  await db.put('key', 'other')

  await held.pop().close()
  assert.deepEqual(await db.iterator().all(), [['key', 'other']])
  for (const snapshot of held) {
    assert.equal(await db.get('key', { snapshot }), 'value')
    await snapshot.close()
  }
})

test('loops over as many iterators as can be held can write', async (t) => {
  const db = await openLevel(t, { poolSize: 4 })
  const keys = Array.from({ length: 40 }, (_, i) => `k${String(i).padStart(2, '0')}`)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: '0' })))
  const loops = keys.slice(0, 3).map(async (prefix) => {
    for await (const key of db.keys({ lt: 'l', highWaterMarkBytes: 1 })) await db.put(`z${prefix}${key}`, '')
  })
  await Promise.all(loops)
  assert.equal((await db.keys({ gt: 'z' }).all()).length, 3 * 40)
})

test('databases of a process share connections, whose number is bounded', async (t) => {
  const server = await theServer()
  const databases = []
  for (let i = 0; i < 5; i++) databases.push(await openLevel(t, { poolSize: 6, deadlineMs: HANG_MS }))
  const reads = databases.flatMap((db) => Array.from({ length: 40 }, () => db.get('key')))
  await Promise.all(reads)
  const [{ count }] = await server.query(
    "SELECT COUNT(*) AS count FROM information_schema.processlist WHERE user = 'terrace'"
  )
  assert.ok(Number(count) <= 6, `${count} connections`)
})

test('a walk over values of any size holds few of them at once', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'buffer' })
  const sizes = [10, 9000, 300_000, 20, 2_000_000, 100, 40_000]
  const count = scaled(70, 28)
  for (let i = 0; i < count; i++)
    await db.put(`k${String(i).padStart(3, '0')}`, Buffer.alloc(sizes[i % 7], i))
  for (const reverse of [false, true]) {
    let i = reverse ? count - 1 : 0
    for await (const [key, value] of db.iterator({ reverse })) {
      assert.equal(key, `k${String(i).padStart(3, '0')}`)
      assert.ok(value.equals(Buffer.alloc(sizes[i % 7], i)))
      i += reverse ? -1 : 1
    }
    assert.equal(i, reverse ? -1 : count)
  }
})

test('getMany of more keys than a statement takes shows one state', async (t) => {
  const db = await openLevel(t)
  const keys = Array.from({ length: 2500 }, (_, i) => `k${i}`)
  const write = (round) => db.batch(keys.map((key) => ({ type: 'put', key, value: `${round}` })))
  await write(0)
  for (let round = 1; round <= scaled(10, 4); round++) {
    const [, values] = await Promise.all([write(round), db.getMany(keys)])
    assert.equal(new Set(values).size, 1)
  }
})

test('transactions at once, more than there are connections, end', async (t) => {
  const db = await openLevel(t, { poolSize: 4, shared: false })
  const transaction = transactions(db)
  await Promise.all(
    Array.from({ length: 60 }, () =>
      transaction.update('count', (value = '0') => `${Number(value) + 1}`, {
        retries: Number.POSITIVE_INFINITY
      })
    )
  )
  assert.equal(await db.get('count'), '60')
})
