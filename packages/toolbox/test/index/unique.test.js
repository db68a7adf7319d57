import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from 'terrace-toolbox/index'
import { all } from '../support/collect.js'
import { databases, isExact } from '../support/databases.js'
import { inStep, refusalOf, refusalOfPut, usersOf } from './support/indexes.js'

for (const [name, open] of Object.entries(databases)) {
  const withUsers = async (t, options) => usersOf(await open(t), options)

  test(`${name}: a refusal of one index leaves no trace of the others`, async (t) => {
    const { db, users, indexed } = await withUsers(t)
    const unique = index(users, { name: 'name', on: 'name', unique: true })
    await users.put('a', { email: 'a@x', name: 'A' })
    await users.put('b', { email: 'b@x', name: 'B' })
    await Promise.all([indexed.ready, unique.ready])
    const before = await db.iterator().all()
    await refusalOf(users.put('a', { email: 'new', name: 'B' }))
    await refusalOf(
      users.batch([
        { type: 'put', key: 'c', value: { email: 'c', name: 'C' } },
        { type: 'put', key: 'a', value: { email: 'new', name: 'B' } }
      ])
    )
    assert.deepEqual(await db.iterator().all(), before)

    const batch = users.batch().put('a', { email: 'newer', name: 'A' })
    await refusalOfPut(batch, 'b', { email: 'newest', name: 'A' })
    if (isExact(db)) await users.put('a', { email: 'newer', name: 'A' })
    else await batch.write()
    assert.deepEqual(await all(indexed.keys()), ['b', 'a'])
    assert.deepEqual(await indexed.verify(), inStep(2))
    assert.deepEqual(await unique.verify(), inStep(2))
  })

  test(`${name}: a value of a unique index belongs to one key`, async (t) => {
    const { users, indexed } = await withUsers(t, { name: 'email', on: 'email', unique: true })
    await users.put('a', { email: 'x' })
    await users.put('a', { email: 'x', again: true })
    const error = await refusalOf(users.put('b', { email: 'x' }))
    assert.equal(error.code, 'TOOLBOX_UNIQUE')
    assert.deepEqual([error.index, error.value, error.key, error.refusedKey], ['email', 'x', 'a', 'b'])
    assert.match(error.message, /email: "x" already belongs to key "a"/)
    assert.equal(await users.get('b'), undefined)

    const twice = [
      { type: 'put', key: 'c', value: { email: 'y' } },
      { type: 'put', key: 'd', value: { email: 'y' } }
    ]
    assert.equal((await refusalOf(users.batch(twice))).key, 'c')
    assert.deepEqual(await all(users.keys()), ['a'])

    await users.del('a')
    await users.put('b', { email: 'x' })
    assert.equal(await indexed.getKey('x'), 'b')
    assert.deepEqual(await indexed.verify(), inStep(1))
  })

  test(`${name}: a new unique index refuses from the first write on, whatever its building does`, async (t) => {
    const { db } = await withUsers(t)
    for (let round = 0; round < 40; round++) {
      const users = db.sublevel(`users${round}`, { valueEncoding: 'json' })
      const indexed = index(users, { name: 'email', on: 'email', unique: true })
      await users.put('a', { email: 'x' })
      for (let i = 0; i < round % 8; i++) await users.put(`c${i}`, {})
      assert.equal((await refusalOf(users.put('b', { email: 'x' }))).code, 'TOOLBOX_UNIQUE')
      await indexed.ready
      assert.deepEqual(await indexed.verify(), inStep(1 + (round % 8), 1))
    }
  })

  test(`${name}: in a batch a unique value passes on once it is free`, async (t) => {
    const { users, indexed } = await withUsers(t, { name: 'email', on: 'email', unique: true })
    await users.put('a', { email: 'x' })
    await users.put('b', { email: 'y' })
    const swap = [
      { type: 'put', key: 'a', value: { email: 'y' } },
      { type: 'put', key: 'b', value: { email: 'x' } }
    ]
    assert.equal((await refusalOf(users.batch(swap))).key, 'b')
    await users.batch([{ type: 'del', key: 'b' }, ...swap])
    assert.equal(await indexed.getKey('x'), 'b')
    assert.equal(await indexed.getKey('y'), 'a')
    await users.batch([
      { type: 'put', key: 'b', value: {} },
      { type: 'put', key: 'c', value: { email: 'x' } }
    ])
    assert.equal(await indexed.getKey('x'), 'c')
    assert.deepEqual(await indexed.verify(), inStep(3, 2))
  })

  test(`${name}: unique elements of arrays`, async (t) => {
    const { users, indexed } = await withUsers(t, {
      name: 'phone',
      on: 'phones',
      multiple: true,
      unique: true
    })
    await users.put('a', { phones: ['1', '2', '1'] })
    assert.equal((await refusalOf(users.put('b', { phones: ['3', '2'] }))).value, '2')
    await users.put('a', { phones: ['1', '4'] })
    await users.put('b', { phones: ['3', '2'] })
    assert.deepEqual(await all(indexed.keys()), ['a', 'b', 'b', 'a'])
    assert.deepEqual(await indexed.verify(), inStep(2, 4))
  })

  test(`${name}: a chained batch that is written after other writes`, async (t) => {
    const { db, users, indexed } = await withUsers(t)
    const unique = index(users, { name: 'name', on: 'name', unique: true })
    await Promise.all([indexed.ready, unique.ready])
    await users.put('a', { email: '0', name: 'A' })
    const batch = users.batch().put('a', { email: '1' }).put('b', { email: '1', name: 'B' })
    await users.put('a', { email: '2', name: 'C' })
    await users.put('c', { email: '3', name: 'A' })
    await batch.write()
    assert.deepEqual(await all(indexed.keys()), ['a', 'b', 'c'])
    if (isExact(db)) {
      assert.deepEqual(await all(unique.keys()), ['c', 'b'])
      assert.deepEqual(await indexed.verify(), inStep(3))
    } else {
      // The batch deleted the entry that belonged to a when it was filled.
      assert.deepEqual(await unique.verify(), { ...inStep(3, 2), missing: 1, stale: 1 })
      assert.deepEqual(await indexed.verify(), { ...inStep(3, 4), stale: 1 })
      await unique.rebuild()
    }

    const late = users.batch().put('d', { name: 'D' })
    await users.put('e', { name: 'D' })
    if (isExact(db)) {
      assert.equal((await refusalOf(late.write())).key, 'e')
      assert.deepEqual(await unique.verify(), inStep(4, 3))
    } else {
      await late.write()
      const { wrong } = await unique.verify()
      assert.equal(wrong, 1)
    }
  })

  test(`${name}: a unique value that two writes want at once`, async (t) => {
    const { db, users, indexed } = await withUsers(t, { name: 'email', on: 'email', unique: true })
    await indexed.ready
    const results = await Promise.allSettled(['a', 'b', 'c'].map((key) => users.put(key, { email: 'x' })))
    if (isExact(db)) {
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected']
      )
      assert.deepEqual(await indexed.verify(), inStep(1))
      return
    }
    // As the guide says about other databases, verify() finds it.
    const { records, missing, wrong } = await indexed.verify()
    assert.equal(missing + wrong, records - 1)
    assert.deepEqual(await users.get(await indexed.getKey('x')), { email: 'x' })
  })
}
