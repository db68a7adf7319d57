// Conditional writes of a tab, whose worker checks the conditions: what becomes of them when the worker is lost.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackendLevel } from 'terrace-core'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { ArrayBackend } from '../../../core/test/support/array-backend.js'
import { checkIncrements, Incrementer } from '../../../core/test/support/increments.js'
import { TestBackend } from '../support/page.js'

const lost = { code: 'LEVEL_LEADER_LOST' }

/** A tab whose worker has this store, which is another one's as well. */
async function openTab(store = new ArrayBackend({ sync: true })) {
  const backend = new TestBackend()
  const { greeted, connection, host } = backend.connect(store)
  await greeted
  const db = new BackendLevel(backend)
  await db.open()
  return { db, backend, connection, host, store }
}

test('conditions of all kinds reach the worker, and which of them do not hold comes back', async () => {
  const { db } = await openTab()
  await db.put('a', 'ü', { if: [{ key: 'a', exists: false }] })
  const users = db.sublevel('users', { valueEncoding: 'json' })
  const snapshot = db.snapshot()
  await users.put('ada', { age: 36 }, { if: [] })
  const conditions = [
    { key: 'a', exists: true },
    { key: 'a', value: 'ü' },
    { key: 'b', exists: false },
    { key: '', valueEncoding: 'view', sublevel: users, value: new Uint8Array(0) },
    { sublevel: users, key: 'ada', value: { age: 36 } },
    { gte: 'a', lte: 'z', unchangedSince: snapshot },
    { sublevel: users, gt: 'a', lt: 'b', unchangedSince: snapshot },
    { sublevel: users, gt: 'b', unchangedSince: snapshot },
    { unchangedSince: snapshot },
    { key: 'a', value: 'u' }
  ]
  const batch = [
    { type: 'put', key: 'b', value: '' },
    { type: 'del', key: 'a' }
  ]
  await assert.rejects(db.batch(batch, { if: conditions }), {
    code: 'LEVEL_CONFLICT',
    conditions: [3, 6, 8, 9],
    message: /4 of 10 conditions do not hold/
  })
  assert.deepEqual(await db.keys().all(), ['!users!ada', 'a'])
  await db.batch(batch, { if: conditions.filter((_, i) => ![3, 6, 8, 9].includes(i)), sync: true })
  assert.deepEqual(await db.keys().all(), ['!users!ada', 'b'])
  await snapshot.close()
  await db.close()
})

test('a conditional write comes between those called before and after', async () => {
  const { db } = await openTab()
  const writes = []
  for (let i = 0; i < 50; i++) {
    writes.push(db.put('turn', String(i)))
    writes.push(db.put('turn', `${i}!`, { if: [{ key: 'turn', value: String(i) }] }))
    const wrong = db.del('turn', { if: [{ key: 'turn', value: String(i) }] })
    writes.push(assert.rejects(wrong, { code: 'LEVEL_CONFLICT' }))
  }
  await Promise.all(writes)
  assert.equal(await db.get('turn'), '49!')
  await db.close()
})

test('a conditional write that was sent and not answered fails, and is not done by the next worker', async () => {
  const { db, connection, backend } = await openTab()
  const snapshot = db.snapshot()
  await db.get('a', { snapshot })
  const sent = [
    db.put('a', '1', { if: [{ key: 'a', exists: false }] }),
    db.put('b', '1', { if: [{ unchangedSince: snapshot }] })
  ]
  // They go at the end of this turn.
  await Promise.resolve()
  connection.lose()
  for (const put of sent) await assert.rejects(put, lost)
  await assert.rejects(db.put('c', '1', { if: [{ unchangedSince: snapshot }] }), lost)
  const waiting = db.put('d', '1', { if: [{ key: 'd', exists: false }] })
  backend.connect(new ArrayBackend({ sync: true }))
  await waiting
  assert.deepEqual(await db.keys().all(), ['d'])
  await snapshot.close()
  await db.close()
})

test('a conditional write whose answer was lost fails, though it is stored', async () => {
  const { db, connection, backend, store } = await openTab()
  let isAnswered = false
  connection.intercept = (to) => {
    isAnswered ||= to === 0
    return to === 0
  }
  const put = db.put('a', '1', { if: [{ key: 'a', exists: false }] })
  await until(() => isAnswered, 'the answer')
  connection.lose()
  await assert.rejects(put, lost)
  backend.connect(store)
  await assert.rejects(db.put('a', '2', { if: [{ key: 'a', exists: false }] }), {
    code: 'LEVEL_CONFLICT',
    conditions: [0]
  })
  assert.equal(await db.get('a'), '1')
  await db.close()
})

test('a write with conditions that was not sent goes to the next worker, unless it has a snapshot of the former', async () => {
  const { db, host, backend } = await openTab()
  await db.put('a', '1')
  const snapshot = db.snapshot()
  await turns(10)
  const ending = host.end()
  const late = [
    db.put('a', '2', { if: [{ key: 'a', value: '1' }] }),
    db.put('a', '3', { if: [{ unchangedSince: snapshot }] }).catch(({ code }) => code)
  ]
  await ending
  await turns(10)
  const store = new ArrayBackend({ sync: true })
  store.writeSync(['a', '1'], false)
  backend.connect(store)
  assert.deepEqual(await Promise.all(late), [undefined, 'LEVEL_LEADER_LOST'])
  assert.equal(await db.get('a'), '2')
  await assert.rejects(db.put('a', '3', { if: [{ unchangedSince: snapshot }] }), lost)
  await snapshot.close()
  await db.close()
})

test('tabs that count together while their workers are lost lose no increment, and count none twice', async () => {
  const store = new ArrayBackend({ sync: true })
  const tabs = await Promise.all([openTab(store), openTab(store), openTab(store)])
  const counters = tabs.map(({ db }, i) => new Incrementer(db, `tab${i}`))
  let isOver = false
  const counting = counters.map(async (each) => {
    while (!isOver) await each.increment()
  })
  const connections = tabs.map(({ connection }) => connection)
  for (let round = 0; round < 20; round++) {
    const before = counters.map(({ done }) => done.length)
    await until(() => counters.every(({ done }, i) => done.length > before[i] + 5))
    // Another worker opens what the last one had open.
    for (const connection of connections) connection.lose()
    for (const [i, { backend }] of tabs.entries()) connections[i] = backend.connect(store).connection
  }
  isOver = true
  await Promise.all(counting)
  await checkIncrements(tabs[0].db, counters)
  assert.ok(counters.some(({ unknown }) => unknown.length > 0))
  for (const { db } of tabs) await db.close()
})
