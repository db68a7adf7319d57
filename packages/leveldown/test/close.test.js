// Opening and closing: the status, what runs meanwhile, and what becomes of iterators.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, errorOf, leveldown, makers, newLocation, opened } from './support/databases.js'

const NOT_OPEN = { name: 'Error', message: 'Database is not open', code: 'LEVEL_DATABASE_NOT_OPEN' }

for (const [name, make] of Object.entries(makers)) {
  test(`the status follows the calls: ${name}`, async () => {
    const db = make()
    assert.equal(db.status, 'new')
    const opening = call(db, 'open')
    assert.equal(db.status, 'opening')
    await opening
    assert.equal(db.status, 'open')
    assert.equal(db.isOperational(), true)
    const closing = call(db, 'close')
    assert.equal(db.status, 'closing')
    await closing
    assert.equal(db.status, 'closed')
    await call(db, 'close')
    assert.equal(db.status, 'closed')
    const reopening = call(db, 'open')
    assert.equal(db.status, 'opening')
    await reopening
    await call(db, 'open')
    assert.equal(db.status, 'open')
    await call(db, 'close')
  })

  test(`a database that was never opened can be closed: ${name}`, async () => {
    const db = make()
    await call(db, 'close')
    assert.equal(db.status, 'closed')
  })

  test(`calls before open() and after close() fail, and throw where leveldown throws: ${name}`, async () => {
    const db = make()
    const attempt = async () => {
      // As memdown does, `terrace-leveldown/memory` takes calls before it is open: see unopened.test.js.
      if (name === 'memory' && ['new', 'opening'].includes(db.status)) return
      assert.throws(() => db.iterator(), {
        name: 'Error',
        message: 'cannot call iterator() before open()',
        code: 'LEVEL_DATABASE_NOT_OPEN'
      })
      const rejected = assert.rejects(db.getMany(['a']), NOT_OPEN)
      const errors = await Promise.all([
        errorOf(db, 'get', 'a'),
        errorOf(db, 'getMany', ['a']),
        errorOf(db, 'getMany', []),
        errorOf(db, 'put', 'a', '1'),
        errorOf(db, 'del', 'a'),
        errorOf(db, 'batch', [{ type: 'del', key: 'a' }]),
        errorOf(db.batch().del('a'), 'write'),
        errorOf(db, 'clear')
      ])
      for (const { name, message, code } of errors) assert.deepEqual({ name, message, code }, NOT_OPEN)
      await rejected
    }
    await attempt()
    await call(db, 'open')
    await call(db, 'close')
    await attempt()
    const opening = call(db, 'open')
    await attempt()
    await opening
    const closing = call(db, 'close')
    await attempt()
    await closing
  })

  test(`close() waits for calls that were made before: ${name}`, async () => {
    const db = await opened(undefined, make())
    const order = []
    const note = (what) => (error) => order.push(error ? error.message : what)
    db.put('a', '1', note('put'))
    db.get('absent', (error) => order.push(`get: ${/notfound/i.test(error.message)}`))
    db.batch().put('b', '2').write(note('write'))
    db.getMany(['a'], note('getMany'))
    await call(db, 'close')
    assert.deepEqual(order.sort(), ['get: true', 'getMany', 'put', 'write'])
    await call(db, 'open')
    assert.equal(await call(db, 'get', 'b', { asBuffer: false }), '2')
    await call(db, 'close')
  })

  test(`close() during open() closes the database, and calls both callbacks: ${name}`, async () => {
    const db = make()
    const order = []
    await new Promise((resolve) => {
      db.open((error) => order.push(['open', error?.message]))
      db.close((error) => {
        order.push(['close', error?.message])
        resolve()
      })
    })
    assert.deepEqual(order, [
      ['open', undefined],
      ['close', undefined]
    ])
    assert.equal(db.status, 'closed')
  })

  test(`iterators that are left open end with the database: ${name}`, async () => {
    const db = await opened(undefined, make())
    await call(db, 'batch', [
      { type: 'put', key: 'a', value: '1' },
      { type: 'put', key: 'b', value: '2' }
    ])
    const [idle, busy, ending] = [db.iterator(), db.iterator(), db.iterator()]
    await call(idle, 'next')
    const order = []
    busy.next((error, key) => order.push(error?.message ?? String(key)))
    ending.end((error) => order.push(error?.message ?? 'end'))
    await call(db, 'close')
    assert.deepEqual(order.sort(), ['a', 'end'])
    assert.equal((await errorOf(idle, 'next')).message, 'iterator has ended')
    assert.equal((await errorOf(ending, 'next')).message, 'cannot call next() after end()')
    assert.throws(() => busy.seek('b'), { message: 'iterator has ended' })
    await call(idle, 'end')
    await busy.end()
    await call(db, 'open')
    await call(db, 'close')
  })
}

test('an open that fails leaves the status as it was', async () => {
  const location = newLocation()
  const db = leveldown(location)
  await errorOf(db, 'open', { createIfMissing: false })
  assert.equal(db.status, 'new')
  await call(db, 'open')
  await call(db, 'close')
  await errorOf(db, 'open', { errorIfExists: true })
  assert.equal(db.status, 'closed')
  await call(db, 'open')
  assert.equal(db.status, 'open')
  await call(db, 'close')
})

test('calls of an opened database that was then closed elsewhere fail as well', async () => {
  const db = await opened(undefined, leveldown(newLocation()))
  assert.throws(() => leveldown(newLocation()).getProperty('leveldb.stats'), NOT_OPEN)
  await call(db, 'close')
  assert.throws(() => db.getProperty('leveldb.stats'), NOT_OPEN)
  for (const method of ['approximateSize', 'compactRange']) {
    assert.equal((await errorOf(db, method, 'a', 'b')).message, NOT_OPEN.message)
  }
})
