// abstract-leveldown's private methods, which programs call, replace and look for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Level } from 'terrace'
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

const stores = { ...makers, from: () => leveldown.from(new Level(newLocation())) }

/** How the package `reachdown` recognizes a store. */
const isAbstract = (db) => typeof db._batch === 'function' && typeof db._iterator === 'function'

for (const [name, make] of Object.entries(stores)) {
  test(`reachdown stops above the store, as it has no _batch: ${name}`, () => {
    const db = make()
    assert.ok(isAbstract(db))
    db.close(() => {})
  })

  test(`the private methods can be called, with what is serialized: ${name}`, async (t) => {
    const db = await opened(t, make())
    await call(db, '_put', 'a', '1', {})
    await call(db, '_batch', [{ type: 'put', key: Buffer.from('b'), value: '2' }], {})
    await call(
      db,
      '_batch',
      [
        { type: 'put', key: 'c', value: '3' },
        { type: 'del', key: 'a' }
      ],
      { sync: true }
    )
    await call(db, '_batch', [], {})
    assert.equal(await call(db, '_get', 'b', { asBuffer: false }), '2')
    assert.deepEqual(await call(db, '_getMany', ['a', 'c'], { asBuffer: false }), [undefined, '3'])
    await call(db, '_del', 'b', {})

    const options = { gte: 'b', reverse: false, keys: true, values: true, limit: -1, keyAsBuffer: false }
    assert.deepEqual(await db._iterator(options).next(), ['c', Buffer.from('3')])
    assert.deepEqual(await entriesOf(db._iterator(db._setupIteratorOptions({ lt: 'c' }))), [])
    await call(db, '_clear', { gt: 'c' })
    assert.equal((await entriesOf(db.iterator())).length, 1)
    await call(db, '_clear', {})
    assert.equal((await entriesOf(db.iterator())).length, 0)
  })

  test(`private methods that are replaced get what those of abstract-leveldown get: ${name}`, async (t) => {
    const db = await opened(t, make())
    const { _batch, _clear, _iterator } = db
    const seen = []
    db._batch = (array, options, callback) => {
      seen.push(array, options)
      _batch.call(db, array, options, callback)
    }
    db._clear = (options, callback) => {
      seen.push(options)
      _clear.call(db, options, callback)
    }
    db._iterator = (options) => {
      seen.push(options)
      return _iterator.call(db, { ...options, keyAsBuffer: false, gte: 'b' })
    }
    const operations = [
      { type: 'put', key: 'a', value: 1, more: 2 },
      { type: 'del', key: 'c' },
      { type: 'put', key: 'b', value: '2' }
    ]
    await call(db, 'batch', operations, { sync: true, more: 3 })
    assert.deepEqual(seen.splice(0), [
      [{ ...operations[0], value: '1' }, operations[1], operations[2]],
      { sync: true, more: 3 }
    ])
    assert.equal(operations[0].value, 1)

    assert.deepEqual(await db.iterator({ gt: 1, more: 4 }).next(), ['b', Buffer.from('2')])
    assert.deepEqual(seen.splice(0), [
      {
        gt: '1',
        more: 4,
        reverse: false,
        keys: true,
        values: true,
        limit: -1,
        keyAsBuffer: true,
        valueAsBuffer: true
      }
    ])
    await call(db, 'clear', { gte: 'b' })
    assert.deepEqual(seen.splice(0), [{ gte: 'b', reverse: false, limit: -1 }])
    assert.deepEqual(await call(db, 'getMany', ['a', 'b'], { asBuffer: false }), ['1', undefined])
  })
}

test('a replaced _batch gets chained batches in memory, as in memdown, and not on disk, as in leveldown', async (t) => {
  for (const [make, count] of [
    [makers.disk, 0],
    [memdown, 1]
  ]) {
    const db = await opened(t, make())
    const seen = []
    const { _batch } = db
    db._batch = (array, ...rest) => {
      seen.push(array)
      _batch.call(db, array, ...rest)
    }
    await call(db.batch().put('a', '1').del('b'), 'write')
    assert.equal(await call(db, 'get', 'a', { asBuffer: false }), '1')
    assert.equal(seen.length, count)
    for (const array of seen) {
      assert.deepEqual(array, [
        { type: 'put', key: 'a', value: '1' },
        { type: 'del', key: 'b' }
      ])
    }
  }
})

test('a private call on a database that is not open has the error in its callback', async () => {
  const db = leveldown(newLocation())
  const operations = [{ type: 'put', key: 'a', value: '1' }]
  for (const [method, ...args] of [
    ['_batch', operations, {}],
    ['_put', 'a', '1', {}],
    ['_clear', {}]
  ]) {
    assert.equal((await errorOf(db, method, ...args)).message, 'Database is not open')
  }
})
