// Iterators and chained batches, beyond the published suite.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  call,
  entriesOf,
  errorOf,
  leveldown,
  makers,
  memdown,
  newLocation,
  opened
} from './support/databases.js'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const put = (key) => ({ type: 'put', key, value: `${key}!` })

for (const [name, make] of Object.entries(makers)) {
  test(`ranges, limits and seeks: ${name}`, async (t) => {
    const db = await opened(t, make())
    await call(db, 'batch', NAMES.map(put))
    const keysOf = async (options, target) => {
      const iterator = db.iterator({ ...options, keyAsBuffer: false })
      if (target !== undefined) iterator.seek(target)
      return (await entriesOf(iterator)).map(([key]) => key).join('')
    }
    assert.equal(await keysOf(), 'abcde')
    assert.equal(await keysOf({ gt: 'a', lte: 'd' }), 'bcd')
    assert.equal(await keysOf({ gte: Buffer.from('b'), lt: 'd', reverse: true }), 'cb')
    assert.equal(await keysOf({ reverse: true, limit: 2 }), 'ed')
    assert.equal(await keysOf({ limit: 0 }), '')
    assert.equal(await keysOf({ limit: -1 }), 'abcde')
    assert.equal(await keysOf({ limit: Infinity }), 'abcde')
    assert.equal(await keysOf({}, 'c'), 'cde')
    assert.equal(await keysOf({ reverse: true }, 'c'), 'cba')
    assert.equal(await keysOf({ gt: 'd', lt: 'b' }), '')
    // A bound that is there counts, whatever it is.
    assert.equal(await keysOf({ gt: undefined }), '')
    assert.equal(await keysOf({ lt: null }), 'abcde')
    assert.throws(() => db.iterator().seek(''), { message: 'cannot seek() to an empty target' })
    assert.throws(() => db.iterator().next('no function'), { message: 'next() requires a callback argument' })
    assert.throws(() => db.iterator().end('no function'), { message: 'end() requires a callback argument' })
  })

  test(`start and end are bounds, as in leveldown before 5: ${name}`, async (t) => {
    const db = await opened(t, make())
    await call(db, 'batch', NAMES.map(put))
    const keysOf = async (options) => (await entriesOf(db.iterator(options))).map(([key]) => key).join('')
    assert.equal(await keysOf({ start: 'b' }), 'bcde')
    assert.equal(await keysOf({ start: 'b', end: Buffer.from('d') }), 'bcd')
    assert.equal(await keysOf({ start: 'd', end: 'b', reverse: true }), 'dcb')
    assert.equal(await keysOf({ end: 'c', reverse: true, limit: 2 }), 'ed')
    assert.equal(await keysOf({ start: '', end: null }), 'abcde')
    assert.equal(await keysOf({ start: undefined, end: Buffer.alloc(0), reverse: true }), 'edcba')
    assert.equal(await keysOf({ start: 'b', gt: 'c', end: 'd' }), 'd')
    // They could be mistaken for the bounds of what to keep.
    assert.throws(() => db.clear({ start: 'a' }, () => {}), { message: /^Legacy range options/ })
  })

  test(`clear() deletes a range: ${name}`, async (t) => {
    const db = await opened(t, make())
    const left = async (options) => {
      await call(db, 'batch', NAMES.map(put))
      await call(db, 'clear', options)
      return (await entriesOf(db.iterator())).map(([key]) => key).join('')
    }
    assert.equal(await left({ gt: 'a', lt: 'd' }), 'ade')
    assert.equal(await left({ limit: 2 }), 'cde')
    assert.equal(await left({ limit: 2, reverse: true, lte: 'd' }), 'abe')
    assert.equal(await left({ gte: Buffer.from('b') }), 'a')
    assert.equal(await left({}), '')
  })

  test(`an iterator shows the database as it was: ${name}`, async (t) => {
    const db = await opened(t, make())
    await call(db, 'put', 'a', '1')
    const iterator = db.iterator()
    await call(db, 'put', 'a', '2')
    await call(db, 'put', 'b', '2')
    assert.deepEqual(await entriesOf(iterator), [['a', '1']])
  })

  test(`many entries come in order, in every form: ${name}`, async (t) => {
    const db = await opened(t, make())
    const count = 3000
    const keys = Array.from({ length: count }, (_, i) => `key${String(i).padStart(5, '0')}`)
    await call(db, 'batch', keys.map(put))
    for (const keyAsBuffer of [true, false]) {
      for (const valueAsBuffer of [true, false]) {
        let i = 0
        for await (const [key, value] of db.iterator({ keyAsBuffer, valueAsBuffer, highWaterMark: 1000 })) {
          assert.equal(Buffer.isBuffer(key), keyAsBuffer)
          assert.equal(Buffer.isBuffer(value), valueAsBuffer)
          assert.equal(`${key} ${value}`, `${keys[i]} ${keys[i]}!`)
          i++
        }
        assert.equal(i, count)
      }
    }
  })

  test(`a chained batch keeps what it was given: ${name}`, async (t) => {
    const db = await opened(t, make())
    const [key, value] = [Buffer.from('k'), Buffer.from('v')]
    const batch = db.batch().put(key, value).put('a', '1').del('b')
    assert.equal(batch.length, 3)
    assert.equal(batch.db, db)
    key[0] = value[0] = 0
    assert.equal(batch.clear().length, 0)
    batch.put(Buffer.from('k'), 'v').put('a', '1').del('a')
    await call(batch, 'write', { sync: true })
    assert.deepEqual(await entriesOf(db.iterator()), [['k', 'v']])

    const other = Buffer.from('z')
    const second = db.batch().put(other, other)
    other[0] = 0
    await call(second, 'write')
    assert.deepEqual(await entriesOf(db.iterator({ gte: 'z' })), [['z', 'z']])
  })

  test(`what a call was given may change once it has returned: ${name}`, async (t) => {
    const db = await opened(t, make())
    const [key, value] = [Buffer.from('a'), Buffer.from('1')]
    const pending = [
      call(db, 'put', key, value),
      call(db, 'put', Buffer.from('s'), value, { sync: true }),
      call(db, 'batch', [{ type: 'put', key: Buffer.from('b'), value }])
    ]
    key[0] = value[0] = 0
    await Promise.all(pending)
    assert.deepEqual(await entriesOf(db.iterator()), [
      ['a', '1'],
      ['b', '1'],
      ['s', '1']
    ])
  })

  test(`end() while next() is running waits for that: ${name}`, async (t) => {
    const db = await opened(t, make())
    await call(db, 'put', 'a', '1')
    const order = []
    const iterator = db.iterator()
    await new Promise((resolve) => {
      iterator.next((_error, key) => order.push(String(key)))
      iterator.end(() => {
        order.push('end')
        resolve()
      })
    })
    assert.deepEqual(order, ['a', 'end'])
  })
}

test('what is not wanted is empty on disk, as in leveldown, and undefined in memory, as in memdown', async (t) => {
  for (const [make, empty, none] of [
    [() => leveldown(newLocation()), Buffer.alloc(0), ''],
    [memdown, undefined, undefined]
  ]) {
    const db = await opened(t, make())
    await call(db, 'put', 'a', '1')
    assert.deepEqual(await db.iterator({ keys: false }).next(), [empty, Buffer.from('1')])
    assert.deepEqual(await db.iterator({ values: false }).next(), [Buffer.from('a'), empty])
    const texts = { keyAsBuffer: false, valueAsBuffer: false }
    assert.deepEqual(await db.iterator({ ...texts, keys: false }).next(), [none, '1'])
    assert.deepEqual(await db.iterator({ ...texts, values: false }).next(), ['a', none])
  }
})

test('an empty bound is none on disk, as in leveldown, and the least key in memory, as in memdown', async (t) => {
  for (const [make, count] of [
    [() => leveldown(newLocation()), 1],
    [memdown, 0]
  ]) {
    const db = await opened(t, make())
    await call(db, 'put', 'a', '1')
    assert.equal((await entriesOf(db.iterator({ lt: '' }))).length, count)
    assert.equal((await entriesOf(db.iterator({ lte: Buffer.alloc(0) }))).length, count)
    assert.equal((await entriesOf(db.iterator({ gt: '' }))).length, 1)
  }
})

test('an iterator has no close(), by which programs know those of abstract-level', async (t) => {
  const db = await opened(t, memdown())
  const iterator = db.iterator()
  assert.equal(iterator.close, undefined)
  assert.equal(iterator.db, db)
  assert.equal((await errorOf(db.batch().put('a', '1'), 'write').catch(() => undefined))?.message, undefined)
})

test('bytes that are no text come back as they were', async (t) => {
  for (const make of Object.values(makers)) {
    const db = await opened(t, make())
    const bytes = Buffer.from([0, 0xff, 0x80, 0xc0])
    await call(db, 'put', bytes, bytes)
    assert.deepEqual(await call(db, 'get', bytes), bytes)
    assert.deepEqual(await call(db, 'getMany', ['text', bytes]), [undefined, bytes])
    assert.deepEqual(await db.iterator({ gte: bytes, lte: bytes }).next(), [bytes, bytes])
    await call(db, 'del', bytes)
    assert.deepEqual(await call(db, 'getMany', [bytes]), [undefined])
  }
})
