// Typed arrays and what encodings refuse, in the parts that encode keys and values themselves, and in the database beside parts whose hook
// functions do.

import assert from 'node:assert/strict'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { MemoryLevel } from 'terrace'
import { count, feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { lock } from 'terrace-toolbox/lock'
import { writable } from 'terrace-toolbox/streams'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'
import { viewsWith } from '../../core/test/support/exact-bytes.js'
import { databases } from './support/databases.js'

const encodings = { keyEncoding: 'view', valueEncoding: 'view' }
const views = viewsWith(runInNewContext('globalThis'))
const opens = { terrace: databases.terrace, MemoryLevel: async () => new MemoryLevel() }

/** Data and the encoding that cannot store it. */
const refused = [
  [5, 'view'],
  [() => {}, 'json'],
  ['xyz', 'hex'],
  ['\ud800', 'utf8'],
  ['x', { name: 'odd', format: 'utf8', encode: () => null, decode: String }]
]

/** Opens a view, and a sublevel of it, which are closed before the database. */
async function viewOf(t, db) {
  const view = ttl(db)
  await view.open()
  t.after(() => view.close())
  return view
}

const puts = (target) => (key, value, options) => target.put(key, value, options)

/** Attaches a part of the toolbox whose hook functions see each write. */
const beside = (attach) => async (_, db) => {
  await attach(db).ready
  return { call: puts(db) }
}

const inTransaction = (use) => (_, db) => {
  const transaction = transactions(db)
  return { call: (...args) => use(transaction, db, ...args) }
}

/** Whatever puts a value or takes a key of the user, for the user or beside the user's own call. */
const doors = {
  'a put of ttl()': async (t, db) => ({ call: puts(await viewOf(t, db)) }),
  'a batch of ttl()': async (t, db) => {
    const view = await viewOf(t, db)
    return { call: (key, value, options) => view.batch([{ type: 'put', key, value, ...options }]) }
  },
  'a batch of ttl() with options': async (t, db) => {
    const view = await viewOf(t, db)
    const fine = { type: 'put', key: 'a', value: 'b', keyEncoding: 'utf8', valueEncoding: 'utf8' }
    return {
      call: (key, value, options) =>
        view.batch(
          [fine, { type: 'del', key: 'c', keyEncoding: 'utf8' }, { type: 'put', key, value }],
          options
        )
    }
  },
  'a chained batch of ttl()': async (t, db) => {
    const view = await viewOf(t, db)
    return { call: (key, value, options) => view.batch().put(key, value, options) }
  },
  'a sublevel of ttl()': async (t, db) => ({ call: puts((await viewOf(t, db)).sublevel('s')) }),
  'a sublevel of a sublevel of ttl()': async (t, db) => ({
    call: puts((await viewOf(t, db)).sublevel('s').sublevel('t'))
  }),
  'a batch of ttl() that names a sublevel': async (t, db) => {
    const view = await viewOf(t, db)
    const sublevel = view.sublevel('s')
    return { call: (key, value, options) => view.batch([{ type: 'put', key, value, sublevel }], options) }
  },
  'a chained batch of a sublevel of ttl()': async (t, db) => {
    const sublevel = (await viewOf(t, db)).sublevel('s')
    return { call: (key, value, options) => sublevel.batch().put(key, value, options) }
  },
  'ttl(), when it expires': async (t, db) => {
    const view = await viewOf(t, db)
    return { call: (key, _, options) => view.expiresAt(key, options), isRead: true }
  },
  'touch() of ttl()': async (t, db) => {
    const view = await viewOf(t, db)
    return { call: (key, _, options) => view.touch(key, 1000, options), isRead: true }
  },
  'get() of ttl()': async (t, db) => {
    const view = await viewOf(t, db)
    return { call: (key, _, options) => view.get(key, options), isRead: true }
  },
  'put() in a transaction': inTransaction((transaction, _, key, value, options) =>
    transaction((attempt) => attempt.put(key, value, options))
  ),
  'put() in a transaction over a view': async (t, db) => {
    const [view, transaction] = [await viewOf(t, db), transactions(db)]
    return {
      call: (key, value, options) =>
        transaction((attempt) => attempt.put(key, value, { ...options, sublevel: view }))
    }
  },
  'get() in a transaction': (_, db) => {
    const transaction = transactions(db)
    return { call: (key, _, options) => transaction((attempt) => attempt.get(key, options)), isRead: true }
  },
  'ifAbsent()': inTransaction(({ ifAbsent }, _, ...args) => ifAbsent(...args)),
  'ifEquals(), of the new value': inTransaction(async ({ ifEquals }, db, key, value, options) => {
    await db.put('present', 'before')
    await ifEquals(key, undefined, value, options)
  }),
  'ifEquals(), of the value that is expected': inTransaction(({ ifEquals }, _, key, value, options) =>
    ifEquals(key, value, 'x', { valueEncoding: 'utf8', ...options })
  ),
  'update()': inTransaction(({ update }, _, key, value, options) => update(key, () => value, options)),
  'the database, beside ttl()': async (t, db) => {
    await viewOf(t, db)
    return { call: puts(db) }
  },
  'the database, beside a transaction': inTransaction((_, db, ...args) => db.put(...args)),
  'the database, beside a feed': beside((db) => feed(db, { name: 'all' })),
  'the database, beside a feed with old values': beside((db) => feed(db, { name: 'all', oldValues: true })),
  'the database, beside an index': beside((db) => index(db, { name: 'length', on: (value) => value.length })),
  'the database, beside a unique index': beside((db) =>
    index(db, { name: 'length', on: (value) => value.length, unique: true })
  ),
  'the database, beside a count': beside((db) => count(db, { name: 'all', of: (_, value) => value })),
  'the database, beside a count without values': beside((db) =>
    count(db, { name: 'groups', of: (key) => [key[0]] })
  ),
  'a sublevel, beside a feed of the database': async (_, db) => {
    await feed(db, { name: 'all' }).ready
    return { call: puts(db.sublevel('s')) }
  },
  'writable()': (_, db) => ({
    call: async (key, value, options) => {
      const stream = writable(db, options)
      const ended = finished(stream)
      stream.end({ key, value })
      await ended
    }
  }),
  'a lock': (_, db) => ({
    call: (key, _, options) => lock(db.sublevel('s', options)).acquire(key),
    isRead: true
  })
}

for (const [name, open] of Object.entries(opens)) {
  test(`${name}: ifEquals compares the bytes of a view of any kind, and stores them`, async (t) => {
    const db = await open(t)
    const { ifEquals, ifAbsent } = transactions(db)
    for (const [kind, view, bytes] of views) {
      assert.equal(await ifAbsent(view, view, encodings), true, kind)
      assert.equal(await ifAbsent(bytes, bytes, encodings), false, kind)
      const other = Uint8Array.of(...bytes, 1)
      assert.equal(await ifEquals(view, other, bytes, encodings), false, kind)
      assert.equal(await ifEquals(view, view, other, encodings), true, kind)
      assert.deepEqual([...(await db.get(bytes, encodings))], [...other], kind)
      assert.equal(await ifEquals(bytes, other, view, encodings), true, kind)
      assert.deepEqual([...(await db.get(view, encodings))], [...bytes], kind)
      await db.clear()
    }
  })

  test(`${name}: a feed has all bytes of values and old values`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { name: 'all', oldValues: true })
    await changes.ready
    const expected = []
    for (const [, view, bytes] of views) {
      await db.put(Uint8Array.of(1, ...bytes), view, encodings)
      await db.put(Uint8Array.of(1, ...bytes), 'new', encodings)
      expected.push([[...bytes], undefined], [[...Buffer.from('new')], [...bytes]])
      await db.del(Uint8Array.of(1, ...bytes), encodings)
      expected.push([undefined, [...Buffer.from('new')]])
    }
    const found = []
    for await (const { value, oldValue } of changes.read(encodings)) {
      found.push([value && [...value], oldValue && [...oldValue]])
    }
    assert.deepEqual(found, expected)
  })

  for (const [door, use] of Object.entries(doors)) {
    test(`${name}: what the database refuses, ${door} refuses with the same error, which names the key as it was given`, async (t) => {
      for (const [data, encoding] of refused) {
        const plain = await open(t)
        const db = await open(t)
        const { call, isRead = false } = await use(t, db)
        const cases = [
          ['kept', data, { valueEncoding: encoding }],
          [data, 'value', { keyEncoding: encoding }]
        ]
        for (const [key, value, options] of isRead ? cases.slice(1) : cases) {
          const { code, message } = await plain.put(key, value, options).catch((error) => error)
          await assert.rejects(async () => call(key, value, options), { code, message })
        }
        assert.deepEqual(await plain.keys().all(), [])
        assert.equal(await db.get('kept'), undefined)
      }
    })
  }
}
