// Views together with the plain database: transactions, conditional writes, unique indexes and feeds through either.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, feed, watch } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { lock } from 'terrace-toolbox/lock'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'
import { scaled } from '../../../../tests/support/form.mjs'
import { stoppedClock } from '../support/clock.js'
import { all } from '../support/collect.js'
import { databases, isExact, writesAtOnce } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  async function opened(t, options = { valueEncoding: 'json' }) {
    const db = await open(t)
    const clock = stoppedClock()
    const entries = db.sublevel('entries', options)
    const view = ttl(entries, { checkIntervalMs: Infinity, now: clock.now })
    await view.open()
    return { db, clock, entries, view }
  }

  test(`${name}: increments through a view and through the database are not lost`, async (t) => {
    const { db, entries, view } = await opened(t)
    const through = [transactions(view), transactions(db)]
    const increment = async (value = 0) => value + 1

    await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const options = { retries: Number.POSITIVE_INFINITY }
        if (i % 2 === 0) return through[0].update('counter', increment, { ...options, ttlMs: 60_000 })
        return through[1].update('counter', increment, { ...options, sublevel: entries })
      })
    )
    assert.equal(await entries.get('counter'), 200)
  })

  test(`${name}: ifAbsent takes a lease that has expired but is not removed`, async (t) => {
    const { db, entries, view, clock } = await opened(t)
    const throughView = transactions(view)
    const throughDatabase = transactions(db)
    assert.equal(await throughView.ifAbsent('lease', 'anna', { ttlMs: 100 }), true)
    assert.equal(await throughView.ifAbsent('lease', 'bert', { ttlMs: 100 }), false)
    clock.time += 100
    assert.equal(await entries.get('lease'), 'anna', 'it is not removed')
    assert.equal(await throughView.ifAbsent('lease', 'bert', { ttlMs: 100 }), true)

    clock.time += 100
    const options = { sublevel: entries, ttlMs: 100 }
    assert.equal(await throughDatabase.ifAbsent('lease', 'cleo', options), true)
    assert.equal(await throughDatabase.ifAbsent('lease', 'dora', options), false)
    assert.equal(await view.expiresAt('lease'), clock.time + 100)
    clock.time += 100
    assert.equal(await throughDatabase.ifEquals('lease', undefined, 'emil', { sublevel: view }), true)
    assert.equal(await view.get('lease'), 'emil')
    assert.equal(await view.expiresAt('lease'), Infinity)
  })

  test(`${name}: only one of many that want an expired lease gets it`, async (t) => {
    const { db, entries, view, clock } = await opened(t)
    const through = [
      [transactions(view), {}],
      [transactions(db), { sublevel: view }],
      [transactions(db), { sublevel: entries }]
    ]
    for (let round = 0; round < scaled(20, 8); round++) {
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, i) => {
          const [transaction, options] = through[i % through.length]
          return transaction.ifAbsent('lease', i, { ...options, ttlMs: 100, retries: 100 })
        }).concat(round % 2 === 0 ? view.removeExpired().then(() => false) : [])
      )
      assert.equal(taken.filter((isTaken) => isTaken).length, 1)
      assert.equal(await view.get('lease'), taken.indexOf(true))
      clock.time += 100
    }
  })

  test(`${name}: a lease that is touched meanwhile is not taken`, async (t) => {
    const { view, clock } = await opened(t)
    const transaction = transactions(view)
    await view.put('lease', 'anna', { ttlMs: 100 })
    let attempts = 0
    const has = await transaction(async (tx) => {
      attempts++
      await tx.get('other')
      if (attempts === 1) {
        assert.equal(await view.touch('lease', 500), true)
        clock.time += 200
      }
      const has = await tx.has('lease')
      if (!has) tx.put('lease', 'bert')
      return has
    })
    assert.deepEqual([attempts, has, await view.get('lease')], [2, true, 'anna'])
  })

  test(`${name}: a range that is read through a view conflicts with what changes its expiries`, async (t) => {
    const { view, clock } = await opened(t)
    const transaction = transactions(view)
    for (const key of ['a', 'b', 'c']) await view.put(key, key, { ttlMs: 100 })
    await view.put('z', 'z')
    const seen = []
    await transaction(async (tx) => {
      await tx.get('other')
      if (seen.length === 0) {
        await view.touch('b', 500)
        clock.time += 200
      }
      seen.push(await tx.keys({ lt: 'y' }).all())
      tx.put('result', seen.at(-1))
    })
    assert.deepEqual(seen, [[], ['b']])
    assert.deepEqual(await view.get('result'), ['b'])
  })

  test(`${name}: a transaction writes to a view and to others, and the expiry is kept`, async (t) => {
    const { db, view, clock } = await opened(t)
    const others = db.sublevel('others')
    const second = ttl(db.sublevel('second'), { checkIntervalMs: Infinity, now: clock.now })
    await second.open()
    const transaction = transactions(db)
    await transaction(async (tx) => {
      tx.put('plain', '1', { sublevel: others })
      tx.put('mortal', { a: 1 }, { sublevel: view, ttlMs: 100 })
      tx.put('root', '1')
    })
    assert.deepEqual(await view.get('mortal'), { a: 1 })
    assert.equal(await view.expiresAt('mortal'), clock.time + 100)
    assert.deepEqual([await others.get('plain'), await db.get('root')], ['1', '1'])

    const both = transaction((tx) => {
      tx.put('x', '1', { sublevel: view, ttlMs: 100 })
      tx.put('x', '1', { sublevel: second, ttlMs: 100 })
    })
    if (isExact(db)) {
      await both
      assert.equal(await second.expiresAt('x'), clock.time + 100)
    } else {
      await assert.rejects(both, { code: 'TRANSACTION_INVALID_ARGUMENT', message: /one view/ })
      assert.equal(await view.get('x'), undefined)
    }
  })

  test(`${name}: the value of an expired entry is free in a unique index`, async (t) => {
    for (const of of ['entries', 'view']) {
      const { clock, [of]: indexed, view, entries } = await opened(t)
      const byMail = index(indexed, { name: 'mail', on: 'mail', unique: true })
      await byMail.ready
      await view.put('a', { mail: 'x' }, { ttlMs: 100 })
      await assert.rejects(view.put('b', { mail: 'x' }), ({ cause }) => cause.code === 'TOOLBOX_UNIQUE')
      clock.time += 100
      assert.ok(await entries.get('a'), 'it is not removed')
      await view.put('b', { mail: 'x' }, { ttlMs: 1000 })
      await assert.rejects(view.put('c', { mail: 'x' }), ({ cause }) => cause.key === 'b')
      await assert.rejects(view.put('a', { mail: 'x' }), ({ cause }) => cause.key === 'b')
      assert.equal(await byMail.getKey('x'), 'b')
      const before = await byMail.verify()
      await byMail.rebuild()
      for (const report of [before, await byMail.verify()]) {
        assert.deepEqual([report.missing, report.stale, report.wrong], [0, 0, 0])
      }

      await view.removeExpired()
      assert.equal(await entries.get('a'), undefined)
      assert.equal(await byMail.getKey('x'), 'b')
      const after = await byMail.verify()
      assert.deepEqual([after.entries, after.missing, after.stale, after.wrong], [1, 0, 0, 0])
      await byMail.drop()
      await view.clear()
      await view.close()
    }
  })

  test(`${name}: an index of a view does not find what has expired, and keeps no entry of it`, async (t) => {
    const { view, clock } = await opened(t)
    const byCity = index(view, { name: 'city', on: 'city' })
    await view.put('a', { city: 'Oslo' }, { ttlMs: 100 })
    await view.put('b', { city: 'Oslo' })
    assert.deepEqual(await all(byCity.keys({ equals: 'Oslo' })), ['a', 'b'])
    clock.time += 100
    assert.deepEqual(await all(byCity.keys({ equals: 'Oslo' })), ['b'])
    assert.deepEqual(await all(byCity.values({ equals: 'Oslo' })), [{ city: 'Oslo' }])
    await view.removeExpired()
    const report = await byCity.verify()
    assert.deepEqual([report.entries, report.stale], [1, 0])
  })

  test(`${name}: an index of a view and one of its database cannot have the same name`, async (t) => {
    const { view, entries } = await opened(t)
    index(view, { name: 'city', on: 'city' })
    assert.throws(() => index(entries, { name: 'city', on: 'city' }), { code: 'TOOLBOX_INDEX_EXISTS' })
  })

  test(`${name}: a feed and a count of a view have its writes and its removals`, async (t) => {
    const { view, entries, clock } = await opened(t)
    const changes = feed(view)
    const cities = count(view, { name: 'cities', of: (_, { city }) => city })
    await view.put('a', { city: 'Oslo' }, { ttlMs: 100 })
    await entries.put('b', { city: 'Oslo' })
    assert.equal(await cities.get('Oslo'), 2)
    clock.time += 100

    const watcher = watch(view, {})
    assert.equal((await watcher.next()).value.key, 'b', 'what has expired is not there')
    await watcher.return()

    await view.removeExpired()
    assert.equal(await cities.get('Oslo'), 1)
    assert.deepEqual(
      (await all(changes.read())).map(({ type, key }) => [type, key]),
      [
        ['put', 'a'],
        ['put', 'b'],
        ['del', 'a']
      ]
    )
    await changes.close()
    await cities.close()
  })

  test(`${name}: locks through a view and on its database are the same`, async (t) => {
    const { view, entries } = await opened(t)
    const release = await lock(view).acquire('a')
    await assert.rejects(lock(entries).acquire('a', { timeoutMs: 0 }), { code: 'LOCK_TIMEOUT' })
    release()
  })

  test(`${name}: a sublevel of a view is refused`, async (t) => {
    const { view } = await opened(t)
    assert.throws(() => transactions(view.sublevel('deep')), { code: 'TOOLBOX_VIEW' })
  })

  test(`${name}: a database has one view at a time, by whatever object`, async (t) => {
    const { db } = await opened(t)
    const second = ttl(db.sublevel('entries'))
    await assert.rejects(second.open(), ({ cause }) => cause.code === 'TTL_IN_USE')
  })

  test(`${name}: an operation of the database whose ttlMs is undefined has that of its batch`, async (t) => {
    const { db, entries, view, clock } = await opened(t)
    if (!isExact(db)) {
      t.diagnostic('skipped: abstract-level lets the option replace that of the batch before a hook sees it')
      return
    }

    const put = (key, rest) => ({ type: 'put', key, value: 1, ...rest })
    const writers = {
      batch: (operations, options) => entries.batch(operations, options),
      ...(writesAtOnce(db) && {
        batchSync: async (operations, options) => entries.batchSync(operations, options)
      }),
      'batch of the root': (operations, options) =>
        db.batch(
          operations.map((operation) => ({ ...operation, sublevel: entries })),
          options
        )
    }
    for (const [writer, write] of Object.entries(writers)) {
      await write([put('a', { ttlMs: undefined }), put('b', { ttlMs: 50 }), put('c')], { ttlMs: 100 })
      const expiries = await Promise.all(['a', 'b', 'c'].map((key) => view.expiresAt(key)))
      assert.deepEqual(expiries, [clock.time + 100, clock.time + 50, clock.time + 100], writer)
      await entries.put('a', 1, { ttlMs: undefined })
      assert.equal(await view.expiresAt('a'), Infinity, writer)
    }
  })

  test(`${name}: an operation whose ttlMs is undefined has that of its batch`, async (t) => {
    const { view, clock } = await opened(t)
    await view.batch(
      [
        { type: 'put', key: 'a', value: 1, ttlMs: undefined },
        { type: 'put', key: 'b', value: 1, ttlMs: 200 },
        { type: 'put', key: 'c', value: 1 },
        { type: 'del', key: 'd', ttlMs: undefined }
      ],
      { ttlMs: 100 }
    )
    assert.equal(await view.expiresAt('a'), clock.time + 100)
    assert.equal(await view.expiresAt('b'), clock.time + 200)
    assert.equal(await view.expiresAt('c'), clock.time + 100)
    await view.put('d', 1, { ttlMs: undefined })
    assert.equal(await view.expiresAt('d'), Infinity)
  })
}
