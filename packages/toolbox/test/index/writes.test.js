import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from 'terrace-toolbox/index'
import { all } from '../support/collect.js'
import { databases, isExact, writesAtOnce } from '../support/databases.js'
import { inStep, refusalOfPut, usersOf } from './support/indexes.js'

for (const [name, open] of Object.entries(databases)) {
  const withUsers = async (t, options) => usersOf(await open(t), options)

  test(`${name}: puts, replacements and deletions keep the index in step`, async (t) => {
    const { users, indexed } = await withUsers(t)
    await users.put('a', { email: 'a@x' })
    await users.put('a', { email: 'b@x' })
    await users.put('b', { email: 'a@x' })
    await users.put('b', { email: 'a@x', more: true })
    await users.put('c', { email: 'c@x' })
    await users.put('c', {})
    await users.put('d', { email: 'd@x' })
    await users.del('d')
    await users.del('none')
    assert.deepEqual(await all(indexed.entries()), [
      ['b', { email: 'a@x', more: true }, 'a@x'],
      ['a', { email: 'b@x' }, 'b@x']
    ])
    assert.deepEqual(await indexed.verify(), inStep(3, 2))
  })

  test(`${name}: a key twice in a batch`, async (t) => {
    const { users, indexed } = await withUsers(t)
    await users.put('a', { email: '0' })
    await users.batch([
      { type: 'put', key: 'a', value: { email: '1' } },
      { type: 'put', key: 'a', value: { email: '2' } },
      { type: 'put', key: 'b', value: { email: '1' } },
      { type: 'del', key: 'b' },
      { type: 'put', key: 'c', value: { email: '1' } },
      { type: 'put', key: 'c', value: { email: '3' } },
      { type: 'put', key: 'c', value: { email: '1' } }
    ])
    assert.deepEqual(await all(indexed.keys()), ['c', 'a'])
    assert.deepEqual(await indexed.verify(), inStep(2))
  })

  test(`${name}: chained batches`, async (t) => {
    const { users, indexed } = await withUsers(t, { name: 'email', on: 'email', unique: true })
    await users.put('a', { email: '0' })
    await users
      .batch()
      .put('a', { email: '1' })
      .put('b', { email: '0' })
      .del('a')
      .put('c', { email: '1' })
      .write()
    assert.deepEqual(await all(indexed.keys()), ['b', 'c'])
    assert.deepEqual(await indexed.verify(), inStep(2))

    const batch = users.batch().put('d', { email: '3' })
    await refusalOfPut(batch, 'e', { email: '0' })
    assert.deepEqual(await all(indexed.keys()), ['b', 'c'])
    if (isExact(users)) await users.batch().put('d', { email: '3' }).put('f', { email: '5' }).write()
    else await batch.put('f', { email: '5' }).write()
    assert.deepEqual(await all(indexed.keys()), ['b', 'c', 'd', 'f'])
    assert.deepEqual(await indexed.verify(), inStep(4))
  })

  test(`${name}: a value is indexed as it will be read`, async (t) => {
    const { users, indexed } = await withUsers(t, { name: 'at', on: 'at' })
    class Point {
      at = 'prototype'
      toJSON() {
        return { at: 'json' }
      }
    }
    await users.put('a', { at: new Date(0) })
    await users.put('b', new Point())
    await users.put('c', { at: undefined })
    await users.put('d', { at: Number.NaN })
    await users.put('e', { at: -0 })
    await users.put('f', '{"at":"text"}', { valueEncoding: 'utf8' })
    await users.put(Buffer.from('g'), Buffer.from('{"at":"bytes"}'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer'
    })
    await users.put('h', 'no JSON', { valueEncoding: 'utf8' })
    const entries = (await all(indexed.entries())).map(([key, , value]) => [key, value])
    assert.deepEqual(entries, [
      ['d', null],
      ['e', 0],
      ['a', '1970-01-01T00:00:00.000Z'],
      ['g', 'bytes'],
      ['b', 'json'],
      ['f', 'text']
    ])
    for (const key of 'abcdefgh') await users.put(key, { at: key })
    assert.deepEqual(await indexed.verify(), inStep(8))
  })

  test(`${name}: keys of any bytes, in text, binary and other encodings`, async (t) => {
    const db = await open(t)
    const keys = [[0], [0, 0], [1], [0x21, 0x61], [0x21, 0x21], [0xff], [0xff, 0xff, 0], []].map(Buffer.from)
    for (const format of ['buffer', 'view']) {
      const sublevel = db.sublevel(format, { keyEncoding: format, valueEncoding: format })
      const byFirst = index(sublevel, { name: 'first', on: (value) => value.subarray(0, 1), version: 'a' })
      for (const [i, key] of keys.entries()) await sublevel.put(key, Buffer.from([i % 2, i]))
      const found = await all(byFirst.entries({ equals: new Uint8Array([1]) }))
      const expected = keys.flatMap((key, i) => (i % 2 === 1 ? [[key, [1, i]]] : []))
      expected.sort(([a], [b]) => Buffer.compare(a, b))
      assert.deepEqual(
        found.map(([key, value]) => [Buffer.from(key), [...value]]),
        expected
      )
      assert.deepEqual(await byFirst.verify(), inStep(keys.length))
      for (const key of keys) await sublevel.del(key)
      assert.deepEqual(await byFirst.verify(), inStep(0))
    }

    const number = {
      name: 'number',
      format: 'utf8',
      encode: (n) => String(n).padStart(9, '0'),
      decode: Number
    }
    const numbers = db.sublevel('numbers', { keyEncoding: number, valueEncoding: number })
    const bySum = index(numbers, { name: 'sum', on: (value, key) => value + key })
    await numbers.put(7, 5)
    await numbers.put('000000008', '3', { keyEncoding: 'utf8', valueEncoding: 'utf8' })
    assert.deepEqual(await all(bySum.entries()), [
      [8, 3, 11],
      [7, 5, 12]
    ])

    const texts = db.sublevel('texts')
    const byText = index(texts, { name: 'text', on: (text) => text, unique: true })
    await texts.put('é\0', 'ü')
    await texts.put('number', 12)
    // Terrace refuses text that is not Unicode; others store it as something else, which is what the index sees.
    const half = await texts.put('half', '\ud800').then(
      () => 'half',
      ({ code, cause = { code } }) => cause.code
    )
    assert.equal(await byText.getKey('ü'), 'é\0')
    assert.equal(await byText.getKey('12'), 'number')
    if (half === 'half') assert.equal(await byText.getKey('\ufffd'), 'half')
    else assert.equal(half, 'LEVEL_INVALID_VALUE')
  })

  test(`${name}: a database's index leaves its sublevels alone`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const sublevel = db.sublevel('sub', { valueEncoding: 'json' })
    await sublevel.put('old', { at: 1 })
    await db.put('a', { at: 2 })
    await db.put('!sub', { at: 3 })
    await db.put('!sub"', { at: 4 })
    await db.put('z', { at: 5 })
    const byAt = index(db, { name: 'at', on: 'at', unique: true })
    const ofSublevel = index(sublevel, { name: 'at', on: 'at' })
    await byAt.ready
    await ofSublevel.ready
    await sublevel.put('new', { at: 2 })
    await db.batch([{ type: 'put', key: 'newer', value: { at: 2 }, sublevel }])
    assert.deepEqual(await all(byAt.keys()), ['a', '!sub', '!sub"', 'z'])
    assert.deepEqual(await byAt.verify(), inStep(4))
    const report = await ofSublevel.verify()
    assert.deepEqual(report, isExact(db) ? inStep(3) : { ...inStep(3, 2), missing: 1 })
  })

  test(`${name}: writes that are not awaited leave nothing out and return nothing wrong`, async (t) => {
    const { db, users, indexed } = await withUsers(t)
    const writes = []
    for (let i = 0; i < 300; i++) {
      const key = `k${i % 7}`
      writes.push(i % 11 === 3 ? users.del(key) : users.put(key, { email: `e${i % 5}` }))
      if (i % 50 === 49) await Promise.all(writes)
    }
    await Promise.all(writes)
    const expected = []
    for await (const [key, { email }] of users.iterator()) expected.push(`${email} ${key}`)
    const found = (await all(indexed.entries())).map(([key, , email]) => `${email} ${key}`)
    assert.deepEqual(found, expected.sort())
    assert.deepEqual((await all(indexed.keys())).sort(), (await all(users.keys())).sort())
    const { missing, stale, wrong } = await indexed.verify()
    assert.deepEqual([missing, wrong], [0, 0])
    if (isExact(db)) assert.equal(stale, 0)
    else await indexed.rebuild()
    assert.deepEqual(await indexed.verify(), inStep(expected.length))
  })

  test(`${name}: writes through other objects, the option sublevel and synchronous methods`, async (t) => {
    const { db, users, indexed } = await withUsers(t)
    await indexed.ready
    const value = { email: 'x' }
    await db.sublevel('users', { valueEncoding: 'json' }).put('a', value)
    await db.batch([{ type: 'put', key: 'b', value, sublevel: users }])
    await db.batch([{ type: 'put', key: '!users!c', value, valueEncoding: 'json' }])
    if (isExact(db)) {
      const operations = ['e', 'f'].map((key) => ({ type: 'put', key, value }))
      if (writesAtOnce(db)) {
        users.putSync('d', value)
        users.batchSync(operations)
        users.delSync('f')
      } else {
        await Promise.all([users.put('d', value), users.batch(operations), users.del('f')])
      }
      assert.deepEqual(await all(indexed.keys()), ['a', 'b', 'd', 'e'])
      // The root's own keys are not the sublevel's, even if they look like it.
      assert.deepEqual(await indexed.verify(), { ...inStep(5, 4), missing: 1 })
    } else {
      assert.deepEqual(await indexed.verify(), { ...inStep(3, 0), missing: 3 })
      const second = db.sublevel('users', { valueEncoding: 'json' })
      index(second, { name: 'other', on: 'email' })
      await indexed.rebuild()
      await second.put('d', value)
      await users.del('a')
      assert.deepEqual(await indexed.verify(), inStep(3))
    }
  })

  test(`${name}: clear()`, async (t) => {
    const { db, users, indexed } = await withUsers(t, { name: 'email', on: 'email', unique: true })
    await indexed.ready
    for (const key of 'abcd') await users.put(key, { email: key })
    await users.clear({ gte: 'b', lt: 'd' })
    assert.deepEqual(await all(indexed.keys()), ['a', 'd'])
    assert.equal(await indexed.get('b'), undefined)
    await users.put('e', { email: 'b' })
    assert.equal(await indexed.getKey('b'), 'e')
    const report = await indexed.verify()
    assert.deepEqual(report, isExact(db) ? inStep(3) : { ...inStep(3, 4), stale: 1 })
  })
}
