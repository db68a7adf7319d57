// A tab's side of a database that a worker has open: what becomes of calls when the worker is lost, and in how many messages they go.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { operationsOf } from '../../dist/browser/tabs/worker/batch-operations.js'
import { Connection, makeStore, openTab } from '../support/page.js'

const lost = { code: 'LEVEL_LEADER_LOST' }

/** A store with these entries. */
async function storeWith(entries) {
  const store = await makeStore()
  store.writeSync(entries.flat(), false)
  return store
}

const numbered = (count) =>
  Array.from({ length: count }, (_, i) => [`k${String(i).padStart(5, '0')}`, `v${i}`])

test('all kinds of calls do what they do elsewhere', async () => {
  const { db } = await openTab()
  await db.put('a', '1')
  await db.batch([
    { type: 'put', key: 'b', value: 'ü'.repeat(100) },
    { type: 'put', key: 'c', value: '' },
    { type: 'del', key: 'a' }
  ])
  assert.equal(await db.get('a'), undefined)
  assert.equal(await db.get('b'), 'ü'.repeat(100))
  assert.deepEqual(await db.getMany(['c', 'a', 'b']), ['', undefined, 'ü'.repeat(100)])
  assert.deepEqual(await db.hasMany(['c', 'a']), [true, false])
  assert.deepEqual(await db.get('c', { valueEncoding: 'view' }), new Uint8Array(0))
  assert.deepEqual(await db.keys({ reverse: true }).all(), ['c', 'b'])
  assert.deepEqual(await db.values({ gt: 'b' }).all(), [''])
  await db.clear({ gte: 'c' })
  assert.deepEqual(await db.keys().all(), ['b'])
  await db.close()
})

test('gets and puts of one turn go in one message each way', async () => {
  const { db, connection } = await openTab()
  await Promise.all(numbered(100).map(([key, value]) => db.put(key, value)))
  // The worker has greeted the tab.
  assert.deepEqual(connection.counts, [1, 1 + 1])
  const values = await Promise.all(numbered(100).map(([key]) => db.get(key)))
  assert.equal(values[99], 'v99')
  assert.deepEqual(connection.counts, [2, 2 + 1])
  await db.close()
})

/** Has a store take batches, as the engine does. Returns what each write had: how many operations, and whether it was flushed. */
function takeBatches(store) {
  const writes = []
  store.writeBatch = (batch, sync) => {
    const operations = operationsOf(batch)
    writes.push([operations.length / 2, sync])
    store.writeSync(operations, false)
  }
  return writes
}

test('writes that come in one message are one write of the log, flushed if one of them is to be', async () => {
  const { db, store } = await openTab()
  const writes = takeBatches(store)
  await Promise.all(numbered(100).map(([key, value], i) => db.put(key, value, { sync: i === 50 })))
  assert.deepEqual(writes.splice(0), [[100, true]])
  assert.deepEqual(await db.iterator().all(), numbered(100))
  const results = await Promise.all([
    db.put('a', '1'),
    db.batch([
      { type: 'put', key: 'b', value: '' },
      { type: 'del', key: 'a' },
      { type: 'del', key: 'k00000' }
    ]),
    db.get('b'),
    db.put('b', '2'),
    db.put('b', '3')
  ])
  assert.deepEqual(writes, [
    [4, false],
    [2, false]
  ])
  assert.deepEqual(results[2], '')
  assert.deepEqual(await db.getMany(['a', 'b', 'k00000']), [undefined, '3', undefined])
  await db.close()
})

test('large writes that come in one message stay apart', async () => {
  const { db, store } = await openTab()
  const writes = takeBatches(store)
  const values = ['a', 'b', 'c', 'd'].map((key) => [key, key.repeat(key === 'c' ? 300_000 : 100_000)])
  await Promise.all(values.map(([key, value]) => db.put(key, value)))
  assert.deepEqual(
    writes.map(([operations]) => operations),
    [2, 1, 1]
  )
  assert.deepEqual(await db.iterator().all(), values)
  await db.close()
})

test('writes that fail together fail each, and later ones go on', async () => {
  const { db, store } = await openTab()
  const failure = Object.assign(new Error('no room'), { code: 'LEVEL_QUOTA_EXCEEDED' })
  for (const fail of [
    () => Promise.reject(failure),
    () => {
      throw failure
    }
  ]) {
    store.writeBatch = fail
    const puts = [db.put('a', '1'), db.put('b', '2')]
    for (const put of puts) await assert.rejects(put, { code: 'LEVEL_QUOTA_EXCEEDED' })
    takeBatches(store)
    await db.put('c', '3')
    assert.deepEqual(await db.keys().all(), ['c'])
  }
  await db.close()
})

test('a long walk takes few messages', async () => {
  const { db, connection, store } = await openTab()
  store.writeSync(numbered(20_000).flat(), false)
  let count = 0
  for await (const [key] of db.iterator()) assert.equal(key, `k${String(count++).padStart(5, '0')}`)
  assert.equal(count, 20_000)
  assert.ok(connection.counts[0] < 12, `${connection.counts} messages`)
  await db.close()
})

test('reads that were not answered are asked of the next worker', async () => {
  const { db, connection, backend } = await openTab()
  const get = db.get('a')
  const many = db.getMany(['a', 'b'])
  connection.lose()
  const later = db.has('b')
  backend.connect(await storeWith([['a', 'x']]))
  assert.equal(await get, 'x')
  assert.deepEqual(await many, ['x', undefined])
  assert.equal(await later, false)
  await db.close()
})

test('a write that was sent and not answered fails, and is not done twice', async () => {
  const { db, connection, backend } = await openTab()
  const put = db.put('a', '1')
  const clear = db.clear()
  // They go at the end of this turn.
  await Promise.resolve()
  connection.lose()
  await assert.rejects(put, lost)
  await assert.rejects(clear, lost)
  const store = await storeWith([])
  const after = db.put('b', '2')
  backend.connect(store)
  await after
  assert.equal(store.getSync('a', {}), undefined)
  assert.equal(await db.get('b'), '2')
  await db.close()
})

test('a worker that takes the place of another is not sent what that one may have done', async () => {
  const { db, backend } = await openTab()
  const store = await storeWith([])
  const put = db.put('a', '1')
  await Promise.resolve()
  backend.connect(store)
  await assert.rejects(put, lost)
  assert.equal(await db.get('a'), undefined)
  await db.close()
})

test('a write whose answer was lost fails, though it is stored', async () => {
  const { db, connection, backend, store } = await openTab()
  let isAnswered = false
  connection.intercept = (to) => {
    isAnswered ||= to === 0
    return to === 0
  }
  const put = db.put('a', '1')
  await until(() => isAnswered, 'the answer')
  connection.lose()
  await assert.rejects(put, lost)
  backend.connect(store)
  assert.equal(await db.get('a'), '1')
  await db.close()
})

test('writes that a closing worker has not begun are done by the next one, in order', async () => {
  const { db, host, backend } = await openTab()
  const first = db.put('a', '1')
  await first
  const ending = host.end()
  const late = [db.put('a', '2'), db.batch([{ type: 'put', key: 'b', value: '2' }]), db.put('a', '3')]
  await ending
  // Each message takes a turn of the event loop.
  await turns(10)
  const store = await storeWith([['a', '1']])
  backend.connect(store)
  await Promise.all(late)
  assert.deepEqual(await db.iterator().all(), [
    ['a', '3'],
    ['b', '2']
  ])
  await db.close()
})

for (const parts of ['iterator', 'keys', 'values']) {
  for (const reverse of [false, true]) {
    test(`${parts}${reverse ? ' backwards' : ''} go on after what was shown`, async () => {
      const entries = numbered(3000)
      const { db, backend, store, connection } = await openTab()
      store.writeSync(entries.flat(), false)
      let current = connection
      const shown = []
      for await (const item of db[parts]({ reverse })) {
        shown.push(item)
        if (shown.length % 700 !== 0) continue
        current.lose()
        current = backend.connect(store).connection
      }
      const ordered = reverse ? entries.toReversed() : entries
      const wanted = {
        iterator: ordered,
        keys: ordered.map(([key]) => key),
        values: ordered.map(([, v]) => v)
      }
      assert.deepEqual(shown, wanted[parts])
      await db.close()
    })
  }
}

test('a snapshot is gone with its worker, and so is an iterator over it', async () => {
  const { db, connection, backend, store } = await openTab()
  store.writeSync(numbered(3000).flat(), false)
  const snapshot = db.snapshot()
  const iterator = db.keys({ snapshot })
  await iterator.next()
  assert.equal(await db.get('k00001', { snapshot }), 'v1')
  const pending = db.get('k00002', { snapshot })
  connection.lose()
  backend.connect(store)
  await assert.rejects(pending, lost)
  await assert.rejects(db.get('k00001', { snapshot }), lost)
  await assert.rejects(iterator.all(), lost)
  await snapshot.close()
  assert.equal(await db.get('k00001', { snapshot: db.snapshot() }), 'v1')
  await db.close()
})

test('what a tab leaves behind is released when it is gone', async () => {
  const { db, connection, store } = await openTab()
  const released = []
  const { cursor, snapshot } = store
  store.cursor = (...args) =>
    Object.assign(cursor.apply(store, args), { close: () => released.push('cursor') })
  store.snapshot = () => Object.assign(snapshot.call(store), { close: () => released.push('snapshot') })
  db.snapshot()
  await db.iterator().next()
  connection.lose()
  assert.deepEqual(released, ['cursor', 'snapshot'])
})

test('errors of the store arrive with their codes and causes', async () => {
  const { db, store } = await openTab()
  const cause = Object.assign(new Error('no room'), { name: 'QuotaExceededError' })
  store.write = store.writeBatch = () => {
    throw Object.assign(new Error('The disk is full', { cause }), { code: 'LEVEL_IO_ERROR' })
  }
  store.cursor = () => {
    throw Object.assign(new Error('damaged'), { code: 'LEVEL_CORRUPTION' })
  }
  await assert.rejects(db.put('a', '1'), (error) => {
    assert.equal(error.code, 'LEVEL_IO_ERROR')
    assert.equal(error.cause.name, 'QuotaExceededError')
    return true
  })
  await assert.rejects(db.iterator().all(), { code: 'LEVEL_CORRUPTION' })
})

test('a tab does not talk to a worker of another version, and says what to do', async () => {
  const { db, backend } = await openTab()
  await db.put('a', '1')
  const other = new Connection()
  let told
  backend.attach(other.tab, (failure) => {
    told = failure
  })
  const put = db.put('a', '2')
  other.worker.send({
    answers: [],
    bytes: new Uint8Array(),
    failures: [],
    greeting: { version: 99, storage: 'opfs' }
  })
  const locked = { code: 'LEVEL_LOCKED', message: /Another version .*: reload/ }
  await assert.rejects(put, locked)
  assert.equal(told.code, 'LEVEL_LOCKED')
  // What it might have done with that would be anything.
  assert.equal(other.counts[0], 0)
  await assert.rejects(db.get('a'), locked)
  backend.connect(await storeWith([['a', '3']]))
  assert.equal(await db.get('a'), '3')
  await db.close()
})

test('calls fail while no worker can open the database, and succeed once one has', async () => {
  const { db, connection, backend } = await openTab()
  const get = db.get('a')
  connection.lose()
  const put = db.put('a', '1')
  const damaged = { code: 'LEVEL_CORRUPTION' }
  backend.fail(Object.assign(new Error('damaged'), damaged))
  await assert.rejects(get, damaged)
  await assert.rejects(put, damaged)
  await assert.rejects(db.get('a'), damaged)
  await assert.rejects(db.keys().all(), damaged)
  backend.connect(await storeWith([['a', '2']]))
  assert.equal(await db.get('a'), '2')
  await db.close()
})
