// Calls before open(): they succeed in memory, as on memdown, and fail on disk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, entriesOf, errorOf, leveldown, memdown, newLocation } from './support/databases.js'

test('memdown works without open()', async () => {
  const db = memdown()
  await call(db, 'put', 'a', '1')
  assert.equal(await call(db, 'get', 'a', { asBuffer: false }), '1')
  assert.equal((await errorOf(db, 'get', 'b')).message, 'NotFound')
  await call(db, 'batch', [{ type: 'put', key: 'b', value: '2' }])
  await call(db.batch().put('c', '3'), 'write')
  await call(db, 'del', 'a')
  assert.deepEqual(await entriesOf(db.iterator()), [
    ['b', '2'],
    ['c', '3']
  ])
  await call(db, 'clear', { gt: 'b' })
  assert.deepEqual(await entriesOf(db.iterator({ reverse: true })), [['b', '2']])
  assert.equal(db.status, 'new')
  assert.equal(db.isOperational(), false)
  assert.equal((await errorOf(db, 'getMany', ['a'])).message, 'Database is not open')

  await call(db, 'open')
  assert.equal(db.status, 'open')
  assert.deepEqual(await call(db, 'getMany', ['b']), [Buffer.from('2')])
  await call(db, 'close')
  assert.equal(db.status, 'closed')
  assert.equal((await errorOf(db, 'put', 'a', '1')).message, 'Database is not open')
})

test('calls before open() are made in their order, with what they were given', async () => {
  for (const first of ['put', 'open', 'level']) {
    const db = memdown()
    const calling = first === 'open' ? [call(db, 'open')] : first === 'level' ? [db.level.status] : []
    const [key, value, from, one] = ['a', '1', 'a', 'b'].map((text) => Buffer.from(text))
    calling.push(call(db, 'put', key, value), call(db, 'batch', [{ type: 'put', key: one, value }]))
    const iterator = db.iterator({ gte: from, keyAsBuffer: false, valueAsBuffer: false })
    for (const each of [key, value, from, one]) each[0] = 0x7a
    calling.push(call(db, 'del', 'a'), call(db, 'put', 'c', '3'), call(db, 'clear', { gte: 'c' }))
    const order = []
    for (const name of 'abc') db.get(name, (error) => order.push([name, error?.message]))
    assert.deepEqual(await entriesOf(iterator), [
      ['a', '1'],
      ['b', '1']
    ])
    await Promise.all(calling)
    assert.deepEqual(
      (await entriesOf(db.iterator())).map(([key]) => key),
      ['b']
    )
    assert.deepEqual(order, [
      ['a', 'NotFound'],
      ['b', undefined],
      ['c', 'NotFound']
    ])
    await call(db, 'close')
  }
})

test('an iterator that is made before open() seeks and ends', async () => {
  const db = memdown()
  const texts = { keyAsBuffer: false, valueAsBuffer: false }
  db.batch(
    ['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: key })),
    () => {}
  )
  const [sought, ended] = [db.iterator(texts), db.iterator(texts)]
  sought.seek('a')
  sought.seek('b')
  await ended.end()
  assert.equal((await errorOf(ended, 'next')).message, 'cannot call next() after end()')
  assert.deepEqual(await sought.next(), ['b', 'b'])
  sought.seek('a')
  assert.deepEqual(await sought.next(), ['a', 'a'])
  await sought.end()
})

test('open() and close() after such calls do not lose them', async () => {
  for (const options of [{}, { maxSizeBytes: 1_000_000 }]) {
    const db = memdown()
    const calling = [call(db, 'put', 'a', '1'), call(db, 'open', options), call(db, 'put', 'b', '2')]
    assert.equal(db.status, 'opening')
    await Promise.all(calling)
    assert.equal(db.status, 'open')
    await Promise.all([call(db, 'put', 'c', '3'), call(db, 'close')])
    await call(db, 'open')
    assert.equal((await entriesOf(db.iterator())).length, 3)
    await call(db, 'close')
  }
  const db = memdown()
  await Promise.all([call(db, 'put', 'a', '1'), call(db, 'close')])
  assert.equal(db.status, 'closed')
  assert.throws(() => db.iterator(), { message: 'cannot call iterator() before open()' })
})

test('options of an open() that follows apply', async () => {
  const db = memdown()
  await call(db, 'put', 'a', '1')
  await call(db, 'open', { maxSizeBytes: 1000 })
  assert.equal((await errorOf(db, 'put', 'b', Buffer.alloc(10_000))).code, 'LEVEL_SIZE_LIMIT')
  assert.match((await errorOf(memdown(), 'open', { maxSizeBytes: 'x' })).message, /^Invalid argument: /)
})

test('on disk, calls before open() fail', async () => {
  const db = leveldown(newLocation())
  assert.equal((await errorOf(db, 'put', 'a', '1')).message, 'Database is not open')
  assert.throws(() => db.iterator(), { message: 'cannot call iterator() before open()' })
})
