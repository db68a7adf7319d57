// No read finds what has expired.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ttl } from 'terrace-toolbox/ttl'
import { stoppedClock } from '../support/clock.js'
import { databases } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  /** A view of a sublevel, without removal in the background, with its clock and its database. */
  async function opened(t, options) {
    const db = await open(t)
    const clock = stoppedClock()
    const sessions = ttl(db.sublevel('sessions', { valueEncoding: 'json' }), {
      checkIntervalMs: Infinity,
      now: clock.now,
      ...options
    })
    await sessions.open()
    return { db, clock, sessions }
  }

  /** All entries of an iterator, read two at a time. */
  async function inParts(iterator) {
    const entries = []
    for (let part = await iterator.nextv(2); part.length > 0; part = await iterator.nextv(2)) {
      entries.push(...part)
    }
    return entries
  }

  /** The value of a key, read within the call if the database can do that. */
  function foundIn(view, key, options) {
    return view.supports.getSync ? view.getSync(key, options) : view.get(key, options)
  }

  /** Everything that reads return about the keys a, b and c. */
  async function everything(view, options = {}) {
    const keys = ['a', 'b', 'c']
    const stepped = []
    for await (const entry of view.iterator(options)) stepped.push(entry)

    return {
      get: await Promise.all(keys.map((key) => view.get(key, options))),
      getSync: await Promise.all(keys.map((key) => foundIn(view, key, options))),
      getMany: await view.getMany(keys, options),
      has: await Promise.all(keys.map((key) => view.has(key, options))),
      hasMany: await view.hasMany(keys, options),
      all: await view.iterator(options).all(),
      stepped,
      many: await inParts(view.iterator(options)),
      limited: await view.iterator({ ...options, limit: 2 }).all(),
      reversed: await view.iterator({ ...options, reverse: true }).all(),
      keys: await view.keys(options).all(),
      firstKeys: await view.keys(options).nextv(1),
      values: await view.values(options).all(),
      firstValues: await view.values(options).nextv(1)
    }
  }

  /** What `everything` returns if these are all the entries. */
  function only(entries) {
    const values = ['a', 'b', 'c'].map((key) => entries[key])
    const all = Object.entries(entries)
    return {
      get: values,
      getSync: values,
      getMany: values,
      has: values.map((value) => value !== undefined),
      hasMany: values.map((value) => value !== undefined),
      all,
      stepped: all,
      many: all,
      limited: all.slice(0, 2),
      reversed: all.toReversed(),
      keys: Object.keys(entries),
      firstKeys: Object.keys(entries).slice(0, 1),
      values: Object.values(entries),
      firstValues: Object.values(entries).slice(0, 1)
    }
  }

  test(`${name}: an entry is there until it expires, and for no read after that`, async (t) => {
    const { sessions, clock } = await opened(t)
    await sessions.put('a', 1, { ttlMs: 100 })
    await sessions.put('b', 2)
    await sessions.put('c', 3, { ttlMs: 200 })

    clock.time += 99
    assert.deepEqual(await everything(sessions), only({ a: 1, b: 2, c: 3 }))
    clock.time += 1
    assert.deepEqual(await everything(sessions), only({ b: 2, c: 3 }))
    clock.time += 100
    assert.deepEqual(await everything(sessions), only({ b: 2 }))
  })

  test(`${name}: a snapshot keeps entries but not the time`, async (t) => {
    const { sessions, clock } = await opened(t)
    await sessions.put('a', 1, { ttlMs: 100 })
    await sessions.put('b', 2, { ttlMs: 200 })
    const snapshot = sessions.snapshot()
    await sessions.put('a', 'later')
    await sessions.del('b')

    assert.deepEqual(await everything(sessions, { snapshot }), only({ a: 1, b: 2 }))
    clock.time += 100
    assert.deepEqual(await everything(sessions, { snapshot }), only({ b: 2 }))
    assert.deepEqual(await everything(sessions), only({ a: 'later' }))
    await snapshot.close()
  })

  test(`${name}: what expires while a loop goes on is not returned`, async (t) => {
    const { sessions, clock } = await opened(t)
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await sessions.put(key, 1, { ttlMs: 100 })
    await sessions.put('h', 2)

    const seen = []
    for await (const key of sessions.keys()) {
      seen.push(key)
      if (key === 'c') clock.time += 100
    }
    assert.deepEqual(seen, ['a', 'b', 'c', 'h'])
  })

  test(`${name}: an iterator goes on after a seek`, async (t) => {
    const { sessions, clock } = await opened(t)
    for (const key of ['a', 'b', 'c', 'd']) await sessions.put(key, key, { ttlMs: key === 'c' ? 100 : 200 })
    clock.time += 100

    const iterator = sessions.iterator()
    assert.deepEqual(await iterator.next(), ['a', 'a'])
    iterator.seek('c')
    assert.deepEqual(await iterator.next(), ['d', 'd'])
    iterator.seek('b')
    assert.deepEqual(await iterator.all(), [
      ['b', 'b'],
      ['d', 'd']
    ])
  })

  test(`${name}: entries of sublevels within the view expire as well`, async (t) => {
    const { sessions, clock } = await opened(t)
    const nested = sessions.sublevel('x').sublevel('y')
    await nested.put('a', '1', { ttlMs: 100 })
    await nested.put('b', '2')
    await sessions.batch([{ type: 'put', sublevel: nested, key: 'c', value: '3', ttlMs: 200 }])

    assert.deepEqual(await everything(nested), only({ a: '1', b: '2', c: '3' }))
    clock.time += 100
    assert.deepEqual(await everything(nested), only({ b: '2', c: '3' }))
    clock.time += 100
    assert.deepEqual(await everything(nested), only({ b: '2' }))
    assert.equal(await sessions.removeExpired(), 2)
    assert.deepEqual(await everything(nested), only({ b: '2' }))
  })

  test(`${name}: keys of any bytes, with values of any bytes`, async (t) => {
    const { db, clock } = await opened(t)
    const view = ttl(db.sublevel('bytes', { keyEncoding: 'view', valueEncoding: 'buffer' }), {
      checkIntervalMs: Infinity,
      now: clock.now
    })
    const keys = [[], [0], [0, 0], [0x21], [0x21, 0x61, 0x21], [0x7f], [0xff], [0xff, 0xff, 0]]
    for (const [index, bytes] of keys.entries()) {
      const key = Uint8Array.from(bytes)
      await view.put(key, Buffer.from([255, index]), index % 2 === 0 ? { ttlMs: 5 } : {})
    }

    clock.time += 5
    const left = [1, 3, 5, 7].map((index) => [Uint8Array.from(keys[index]), Buffer.from([255, index])])
    const plain = (entries) => entries.map(([key, value]) => [[...key], [...value]])
    assert.deepEqual(plain(await view.iterator().all()), plain(left))
    assert.equal(await view.removeExpired(), 4)
    assert.deepEqual(plain(await view.iterator().all()), plain(left))
    assert.deepEqual(
      plain(await db.sublevel('bytes').iterator({ keyEncoding: 'view', valueEncoding: 'view' }).all()),
      plain(left)
    )
  })

  test(`${name}: entries whose keys are not text expire and are cleared even if keys are read as text`, async (t) => {
    const { sessions, clock } = await opened(t)
    const key = Buffer.from([0xff, 0xfe])
    const other = Buffer.from([0x80])
    const binary = { keyEncoding: 'buffer' }
    await sessions.put(key, 1, { ...binary, ttlMs: 100 })
    await sessions.put(other, 2, binary)
    assert.equal((await sessions.keys().all()).length, 2)

    clock.time += 100
    assert.deepEqual(await sessions.values().all(), [2])
    const stepped = []
    for await (const [text] of sessions.iterator()) stepped.push(text)
    assert.deepEqual(stepped, [other.toString()])
    await sessions.clear()
    assert.deepEqual(await sessions.source.keys(binary).all(), [])
  })

  test(`${name}: an iterator that cannot be had does not keep the view from closing`, async (t) => {
    const { sessions } = await opened(t)
    const snapshot = sessions.snapshot()
    await snapshot.close()
    const read = async () => sessions.iterator({ snapshot }).all()
    await assert.rejects(read, { code: 'LEVEL_SNAPSHOT_NOT_OPEN' })
    await sessions.close()
    assert.equal(sessions.status, 'closed')
  })

  test(`${name}: the whole database as what expires, with its sublevels`, async (t) => {
    const db = await open(t)
    const clock = stoppedClock()
    const view = ttl(db, { checkIntervalMs: Infinity, now: clock.now, defaultTtlMs: 100 })
    await view.open()
    await view.put('a', '1')
    await view.put('b', '2', { ttlMs: Infinity })
    await view.put('c', '3', { ttlMs: 200 })
    const keys = await view.keys().all()

    assert.deepEqual(keys, ['a', 'b', 'c'], 'what ttl keeps for itself is not shown')
    clock.time += 100
    assert.deepEqual(await everything(view), only({ b: '2', c: '3' }))
    assert.equal(await view.removeExpired(), 1)
    await view.clear()
    assert.deepEqual(await everything(view), only({}))
    clock.time += 100
    await view.removeExpired()
    assert.deepEqual(await db.keys().all(), [], 'nothing is kept of what is gone')
  })
}
