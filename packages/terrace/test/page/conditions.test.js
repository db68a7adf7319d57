// Writes under conditions of a tab, whose worker has another database open: what arrives there, and what becomes of them when the worker is
// lost. Then terrace-core's tests of conditions, over such a tab.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { makeStore, openTab } from '../support/page.js'

process.env.TERRACE_TEST_DATABASE = new URL('../support/tab-target.js', import.meta.url).href
await import('../../../core/test/conditional-writes.test.js')

const lost = { code: 'LEVEL_LEADER_LOST' }

test('the error of a condition that does not hold arrives with its conditions', async () => {
  const { db } = await openTab()
  await db.put('a', '1')
  await assert.rejects(
    db.put('a', '2', {
      if: [
        { key: 'b', exists: true },
        { key: 'a', exists: true },
        { key: 'a', value: '2' }
      ]
    }),
    {
      code: 'LEVEL_CONFLICT',
      conditions: [0, 2],
      message: '2 of 3 conditions do not hold; nothing was written'
    }
  )
  await db.close()
})

test('a write with conditions is in order among the writes of its message, which it shares', async () => {
  const { db, connection } = await openTab()
  const results = await Promise.all([
    db.put('a', '1'),
    db.put('a', '2'),
    db.put('a', '3', { if: [{ key: 'a', value: '2' }] }),
    db.put('a', '4', { if: [{ key: 'a', value: '2' }] }).catch(({ code }) => code),
    db.put('a', '5'),
    db.put('a', '6', { if: [{ key: 'a', value: '5' }], sync: true })
  ])
  assert.deepEqual(results, [undefined, undefined, undefined, 'LEVEL_CONFLICT', undefined, undefined])
  assert.equal(await db.get('a'), '6')
  assert.equal(connection.counts[0], 2)
  await db.close()
})

test('a write with conditions whose answer is lost fails, since it may be stored', async () => {
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
  const store = await makeStore()
  store.writeSync(['a', '1'], false)
  backend.connect(store)
  assert.deepEqual(await Promise.all(late), [undefined, 'LEVEL_LEADER_LOST'])
  assert.equal(await db.get('a'), '2')
  await assert.rejects(db.put('a', '3', { if: [{ unchangedSince: snapshot }] }), lost)
  await snapshot.close()
  await db.close()
})

test('a snapshot of another database is refused by a database in memory', async () => {
  const [store, other] = [await makeStore(), await makeStore()]
  const snapshot = other.snapshot()
  const conditions = [{ kind: 'unchanged', range: {}, snapshot }]
  assert.throws(() => store.writeIf(conditions, ['a', '1']), { code: 'LEVEL_INVALID_ARGUMENT' })
  assert.equal(store.getSync('a', {}), undefined)
})

test('conditions of all sizes are checked, and too many bytes of them are refused', async () => {
  const store = await makeStore()
  const large = new Uint8Array(50 << 20).fill(1)
  const changed = large.slice()
  changed[changed.length - 1] = 2
  store.writeSync(['large', large, 'é', 'ü'.repeat(300_000)], false)
  const equals = (key, value) => ({ kind: 'equals', key, value })
  store.writeIf([equals('large', large), equals('é', 'ü'.repeat(300_000))], ['a', '1'])
  assert.throws(() => store.writeIf([equals('large', changed), equals('é', 'ü')], ['a', '2']), {
    code: 'LEVEL_CONFLICT',
    conditions: [0, 1]
  })
  const many = Array.from({ length: 11 }, () => equals('large', large))
  assert.throws(() => store.writeIf(many, ['a', '2']), { code: 'LEVEL_INVALID_ARGUMENT' })
  assert.equal(store.getSync('a', { valueEncoding: 'utf8' }), '1')
})
