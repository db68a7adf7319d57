// One database under two APIs: `.level`, and `from()`.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { Level, MemoryLevel } from 'terrace'
import { call, entriesOf, errorOf, leveldown, memdown, newLocation, opened } from './support/databases.js'

test('level is the same database, before, while and after it is open', async () => {
  const location = newLocation()
  const db = leveldown(location)
  const { level } = db
  assert.ok(level instanceof Level)
  assert.equal(level.location, location)
  assert.equal(db.status, 'new')
  // It does not open automatically.
  await new Promise(setImmediate)
  assert.equal(db.status, 'new')
  assert.ok(!existsSync(location))

  await call(db, 'open')
  assert.equal(db.level, level)
  await call(db, 'put', 'a', '1')
  assert.deepEqual(await level.get('a'), Buffer.from('1'))
  await level.put('b', '2')
  assert.equal(await call(db, 'get', 'b', { asBuffer: false }), '2')
  await level.close()
  assert.equal(db.status, 'closed')
  assert.equal((await errorOf(db, 'get', 'a')).message, 'Database is not open')
  await level.open()
  assert.equal(db.status, 'open')
  assert.equal(await call(db, 'get', 'a', { asBuffer: false }), '1')
  await call(db, 'close')
  assert.equal(level.status, 'closed')
})

test('hooks and events see every write', async (t) => {
  const db = await opened(t, memdown())
  const { level } = db
  const [hooked, heard] = [[], []]
  level.hooks.prewrite.add((operation) => hooked.push(`${operation.type} ${operation.key}`))
  level.on('write', (operations) => {
    for (const { type, key, value } of operations) heard.push(`${type} ${key} ${value}`)
  })
  await call(db, 'put', 'a', Buffer.from('1'))
  await call(db, 'del', Buffer.from('a'))
  await call(db, 'batch', [
    { type: 'put', key: 'b', value: '2' },
    { type: 'del', key: 'c' }
  ])
  await call(db.batch().put('d', '3').del('b'), 'write')
  assert.deepEqual(hooked, ['put a', 'del a', 'put b', 'del c', 'put d', 'del b'])
  assert.deepEqual(heard, [
    'put a 1',
    'del a undefined',
    'put b 2',
    'del c undefined',
    'put d 3',
    'del b undefined'
  ])
  assert.deepEqual(await entriesOf(db.iterator()), [['d', '3']])
})

test('a hook function with everyWrite adds its operations to writes', async (t) => {
  const db = await opened(t, memdown())
  const index = db.level.sublevel('index')
  const deleted = []
  db.level.hooks.prewrite.add(
    ({ type, key }, batch) => {
      if (type === 'put') batch.add({ type: 'put', key: `by ${key}`, value: '', sublevel: index })
      else deleted.push(String(key))
    },
    { everyWrite: true }
  )
  await call(db, 'put', 'a', '1')
  await call(db.batch().put('b', '2'), 'write')
  await call(db, 'clear', { gte: 'a', lte: 'a' })
  assert.deepEqual(deleted, ['a'])
  assert.deepEqual(await index.keys().all(), ['by a', 'by b'])
})

test('the iterators of one end with the other', async () => {
  const db = await opened(undefined, leveldown(newLocation()))
  await call(db, 'put', 'a', '1')
  const iterator = db.iterator()
  await db.level.close()
  assert.equal((await errorOf(iterator, 'next')).message, 'iterator has ended')
})

test('from() gives an open database, with whatever encodings, the API of leveldown', async () => {
  const level = new Level(newLocation(), { valueEncoding: 'json' })
  await level.open()
  const db = leveldown.from(level)
  assert.ok(db instanceof leveldown)
  assert.equal(leveldown.from(level), db)
  assert.equal(db.level, level)
  assert.equal(db.location, level.location)
  assert.equal(db.status, 'open')
  assert.deepEqual(db.supports, leveldown('anywhere').supports)

  await level.put('a', { b: 1 })
  assert.equal(await call(db, 'get', 'a', { asBuffer: false }), '{"b":1}')
  await call(db, 'put', 'c', '{"d":2}')
  assert.deepEqual(await level.get('c'), { d: 2 })
  await call(db, 'open')
  assert.equal(await call(db, 'approximateSize', 'x', 'y'), 0)
  await call(db, 'close')
  assert.equal(level.status, 'closed')
  assert.equal(db.status, 'closed')
  await call(db, 'open')
  assert.equal(level.status, 'open')
  await level.close()
})

test('from() of a database that is still opening can be opened as usual, as levelup does', async () => {
  const db = leveldown.from(new Level(newLocation()))
  assert.equal(db.status, 'new')
  await call(db, 'open')
  assert.equal(db.status, 'open')
  await call(db, 'close')
})

test('from() of a database that could not be opened fails likewise, with the options of that', async () => {
  const level = new Level(newLocation(), { createIfMissing: false })
  const db = leveldown.from(level)
  await assert.rejects(level.open())
  assert.equal(db.status, 'new')
  assert.equal((await errorOf(db, 'open')).code, 'LEVEL_DATABASE_MISSING')
  const error = await errorOf(db, 'get', 'a')
  assert.equal(error.message, 'Database is not open')
  assert.match(error.cause.message, /does not exist/)
  assert.equal(db.status, 'new')
})

test('level can be taken just before open()', async () => {
  const db = leveldown(newLocation())
  const { level } = db
  await call(db, 'open')
  assert.equal(level.status, 'open')
  assert.equal(db.status, 'open')
  await call(db, 'close')
})

test('from() of a sublevel shows that part alone', async () => {
  const root = new MemoryLevel()
  await root.open()
  const outer = root.sublevel('a')
  const inner = outer.sublevel('b', { valueEncoding: 'json' })
  await Promise.all([outer.open(), inner.open()])
  await root.batch([
    { type: 'put', key: '!', value: 'before' },
    { type: 'put', key: '~', value: 'after' }
  ])
  const db = leveldown.from(inner)
  const events = []
  root.on('write', (operations) => events.push(...operations.map(({ type }) => type)))
  await call(db, 'put', 'k', '1')
  await call(db, 'batch', [
    { type: 'put', key: Buffer.from('l'), value: '2' },
    { type: 'put', key: 'm', value: '3' },
    { type: 'put', key: 'n', value: '4' }
  ])
  await call(db, 'del', 'n')
  assert.deepEqual(events, ['put', 'put', 'put', 'put', 'del'])
  root.removeAllListeners('write')
  await call(db, 'put', 'o', '5')
  await call(db, 'del', 'o')

  assert.equal(await call(db, 'get', 'k', { asBuffer: false }), '1')
  assert.deepEqual(await call(db, 'getMany', ['k', Buffer.from('l'), 'x']), [
    Buffer.from('1'),
    Buffer.from('2'),
    undefined
  ])
  assert.deepEqual(await inner.get('l'), 2)
  assert.deepEqual(await entriesOf(db.iterator()), [
    ['k', '1'],
    ['l', '2'],
    ['m', '3']
  ])
  const iterator = db.iterator({ gt: 'k', keyAsBuffer: false, values: false })
  iterator.seek('m')
  assert.equal((await iterator.next())[0], 'm')
  await call(db, 'clear', { gte: 'l' })
  assert.deepEqual(await entriesOf(db.iterator()), [['k', '1']])
  assert.equal((await root.keys().all()).length, 3)

  assert.deepEqual(db.supports.additionalMethods, {})
  assert.equal(db.supports.permanence, false)
  const error = await errorOf(db, 'approximateSize', 'a', 'b')
  assert.deepEqual([error.code, /^Not implemented: /.test(error.message)], ['LEVEL_NOT_SUPPORTED', true])
  assert.equal(db.getProperty('leveldb.stats'), '')
  await root.close()
  assert.equal(db.status, 'closed')
})

test('from() refuses what is no database of Terrace', () => {
  for (const wrong of [{}, new Map()]) {
    for (const _ of ['first', 'again']) assert.throws(() => leveldown.from(wrong), TypeError)
  }
})
