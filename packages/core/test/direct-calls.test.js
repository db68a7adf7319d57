// Calls that return values instead of promises where they need not wait. The tests of terrace-leveldown say more.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'terrace'
import { BackendLevel, DirectCalls } from 'terrace-core'
import { ArrayBackend } from './support/array-backend.js'

async function openDirect(t, db) {
  await db.open()
  t.after(() => db.close())
  return new DirectCalls(db)
}

const all = {
  reverse: false,
  limit: -1,
  keys: true,
  values: true,
  keyForm: 'utf8',
  valueForm: 'buffer',
  fillCache: false,
  highWaterMarkBytes: undefined
}

test('what memory can answer is answered within the call', async (t) => {
  // However long the calls take, the event loop need not have a turn between them.
  t.mock.method(performance, 'now', () => 0)
  const calls = await openDirect(t, new MemoryLevel())
  assert.equal(calls.put('a', '1', false), undefined)
  assert.equal(calls.write(['b', Buffer.from('2'), 'c', null], false), undefined)
  assert.equal(calls.del('x', false), undefined)
  assert.equal(calls.get('a', 'utf8', true), '1')
  assert.deepEqual(calls.get(Buffer.from('a'), 'buffer', true), Buffer.from('1'))
  assert.equal(calls.get('x', 'utf8', true), undefined)
  assert.deepEqual(calls.getMany(['a', Buffer.from('b'), 'c'], 'utf8', true), ['1', '2', undefined])

  const cursor = calls.cursor(all)
  assert.equal(cursor.take(), undefined)
  assert.equal(cursor.next(), true)
  assert.deepEqual([cursor.key, cursor.value], ['a', Buffer.from('1')])
  cursor.seek('b')
  assert.equal(cursor.next(), true)
  assert.equal(cursor.key, 'b')
  assert.equal(cursor.next(), undefined)
  cursor.close()
})

test('data is converted for a back-end that has only views', async (t) => {
  const calls = await openDirect(t, new BackendLevel(new ArrayBackend({ formats: ['view'] })))
  await calls.put('a', '1', false)
  await calls.write([Buffer.from('b'), '2'], false)
  assert.equal(await calls.get('a', 'utf8', true), '1')
  assert.deepEqual(await calls.getMany(['a', Buffer.from('b')], 'buffer', true), [
    Buffer.from('1'),
    Buffer.from('2')
  ])
  const cursor = calls.cursor({ ...all, gt: 'a', keyForm: 'buffer', valueForm: 'utf8' })
  assert.equal(await cursor.next(), true)
  assert.deepEqual([cursor.key, cursor.value], [Buffer.from('b'), '2'])
  await cursor.close()
})

test('a database that is not open refuses the calls', async () => {
  const db = new MemoryLevel()
  const calls = new DirectCalls(db)
  await db.open()
  await db.close()
  const refused = { code: 'LEVEL_DATABASE_NOT_OPEN' }
  assert.throws(() => calls.get('a', 'utf8', true), refused)
  assert.throws(() => calls.getMany(['a'], 'utf8', true), refused)
  assert.throws(() => calls.put('a', '1', false), refused)
  assert.throws(() => calls.del('a', false), refused)
  assert.throws(() => calls.write(['a', null], false), refused)
  assert.throws(() => calls.cursor(all), refused)
  assert.throws(() => new DirectCalls({}), TypeError)
})
