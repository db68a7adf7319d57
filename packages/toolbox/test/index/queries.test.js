import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upper } from 'terrace-bytewise'
import { index } from 'terrace-toolbox/index'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: mixed values come in bytewise's order, and both ways`, async (t) => {
    const values = [null, false, true, -2.5, 0, 3, 20, '', 'a', 'ab', 'b', 'ä', [], ['a'], ['a', 1], ['b']]
    const db = await open(t, { valueEncoding: 'json' })
    const at = index(db, { name: 'at', on: 'at' })
    for (const key of [7, 3, 11, 0, 15, 1, 14, 2, 13, 4, 12, 5, 10, 6, 9, 8]) {
      await db.put(`key ${key}`, { at: values[key] })
    }
    const indexed = async (range) => (await all(at.entries(range))).map(([, , value]) => value)

    assert.deepEqual(await indexed(), values)
    assert.deepEqual(await indexed({ reverse: true }), values.toReversed())
    assert.deepEqual(await indexed({ gte: 0, lt: 20 }), [0, 3])
    assert.deepEqual(await indexed({ gt: 0, lte: 20 }), [3, 20])
    assert.deepEqual(await indexed({ gt: 'a' }), ['ab', 'b', 'ä', [], ['a'], ['a', 1], ['b']])
    assert.deepEqual(await indexed({ gte: 'a', lte: 'a' }), ['a'])
    assert.deepEqual(await indexed({ lt: false }), [null])
    assert.deepEqual(await indexed({ lte: null }), [null])
    assert.deepEqual(await indexed({ equals: null }), [null])
    assert.deepEqual(await indexed({ equals: ['a'] }), [['a']])
    assert.deepEqual(await indexed({ prefix: 'a' }), ['a', 'ab'])
    assert.deepEqual(await indexed({ prefix: '' }), ['', 'a', 'ab', 'b', 'ä'])
    assert.deepEqual(await indexed({ prefix: ['a'] }), [['a'], ['a', 1]])
    assert.deepEqual(await indexed({ prefix: [] }), [[], ['a'], ['a', 1], ['b']])
    assert.deepEqual(await indexed({ gt: ['a'], lte: upper(['a']) }), [['a', 1]])
    assert.deepEqual(await indexed({ gte: 'x', lt: 'c' }), [])
    assert.deepEqual(await indexed({ gte: 3, limit: 3, reverse: true }), [['b'], ['a', 1], ['a']])
    assert.deepEqual(await indexed({ limit: 0 }), [])
    assert.deepEqual(await indexed({ limit: 4, pageSize: 3 }), [null, false, true, -2.5])
  })

  test(`${name}: entries, keys and values of a sublevel, equal values in the order of keys`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const byCity = index(users, { name: 'city', on: 'address.city' })
    await users.put('b', { address: { city: 'Bern' } })
    await users.put('c', { address: {} })
    await users.put('a', { address: { city: 'Bern' } })
    await users.put('d', { address: { city: 'Arosa' } })
    assert.deepEqual(await all(byCity.entries()), [
      ['d', { address: { city: 'Arosa' } }, 'Arosa'],
      ['a', { address: { city: 'Bern' } }, 'Bern'],
      ['b', { address: { city: 'Bern' } }, 'Bern']
    ])
    assert.deepEqual(await all(byCity.keys({ equals: 'Bern' })), ['a', 'b'])
    assert.deepEqual(await all(byCity.keys({ equals: 'Bern', reverse: true, limit: 1 })), ['b'])
    assert.deepEqual(await all(byCity.values({ lt: 'B' })), [{ address: { city: 'Arosa' } }])
  })

  test(`${name}: get and getKey of a unique index`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const byName = index(db, { name: 'name', on: ['last', 'first'], unique: true })
    await db.put('1', { first: 'Ada', last: 'Lovelace' })
    assert.deepEqual(await byName.get(['Lovelace', 'Ada']), { first: 'Ada', last: 'Lovelace' })
    assert.equal(await byName.getKey(['Lovelace', 'Ada']), '1')
    assert.deepEqual(await all(byName.keys({ prefix: ['Lovelace'] })), ['1'])
    for (const indexed of [['Lovelace'], 'Lovelace', undefined, null]) {
      assert.equal(await byName.get(indexed), undefined)
      assert.equal(await byName.getKey(indexed), undefined)
    }
    for (const indexed of [{}, Number.NaN, upper('a')]) {
      await assert.rejects(byName.get(indexed), { code: 'TOOLBOX_INDEX_RANGE', index: 'name' })
    }
  })

  test(`${name}: a query shows one moment, whatever is written while it goes on`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const byAge = index(db, { name: 'age', on: 'age' })
    const keys = Array.from({ length: 20 }, (_, i) => `k${String(i).padStart(2, '0')}`)
    for (const [age, key] of keys.entries()) await db.put(key, { age, version: 1 })
    const found = []
    for await (const [key, { age, version }] of byAge.entries({ pageSize: 3 })) {
      if (found.length === 0) {
        for (const [index, key] of keys.entries()) await db.put(key, { age: 100 - index, version: 2 })
        await db.del('k05')
      }
      found.push([key, age, version])
    }
    assert.deepEqual(
      found,
      keys.map((key, age) => [key, age, 1])
    )
    assert.equal((await all(byAge.keys())).length, 19)
  })
}

test('a query that is left early closes its snapshot and iterator', async (t) => {
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  const byAge = index(db, { name: 'age', on: 'age' })
  await db.put('a', { age: 1 })
  await db.put('b', { age: 2 })
  const open = new Set()
  const { attachResource, detachResource } = db
  db.attachResource = (resource) => {
    open.add(resource)
    attachResource.call(db, resource)
  }
  db.detachResource = (resource) => {
    open.delete(resource)
    detachResource.call(db, resource)
  }
  for await (const key of byAge.keys()) {
    assert.ok(open.size > 0)
    assert.equal(key, 'a')
    break
  }
  assert.equal(open.size, 0)
})

test('wrong queries are refused with a code, at the call', async (t) => {
  const db = await databases['memory-level'](t, { valueEncoding: 'json' })
  const byAge = index(db, { name: 'age', on: 'age' })
  const wrong = [
    { equals: 1, prefix: 'a' },
    { equals: 1, gte: 0 },
    { prefix: 'a', lt: null },
    { gte: Number.NaN },
    { equals: {} },
    { limit: -1 },
    { limit: 1.5 },
    { pageSize: 0 },
    { pageSize: 10_001 },
    { reverse: 1 }
  ]
  for (const range of wrong) {
    for (const method of ['entries', 'keys', 'values']) {
      assert.throws(
        () => byAge[method](range),
        { code: 'TOOLBOX_INDEX_RANGE', index: 'age' },
        JSON.stringify(range)
      )
    }
  }
  await assert.rejects(byAge.get(1), { code: 'TOOLBOX_INDEX_NOT_UNIQUE' })
  await assert.rejects(byAge.getKey(1), { code: 'TOOLBOX_INDEX_NOT_UNIQUE' })
})
