// What writes say about expiry, and what is removed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ttl } from 'terrace-toolbox/ttl'
import { until } from '../../../../tests/support/waiting.mjs'
import { stoppedClock } from '../support/clock.js'
import { databases, isExact } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  /** A view of a sublevel, without removal in the background, with its clock and its database. */
  async function opened(t, options) {
    const db = await open(t)
    const clock = stoppedClock()
    const entries = db.sublevel('sessions')
    const sessions = ttl(entries, { checkIntervalMs: Infinity, now: clock.now, ...options })
    await sessions.open()
    return { db, clock, entries, sessions }
  }

  test(`${name}: an entry that is written again lives as long as the last write says`, async (t) => {
    const { sessions, clock } = await opened(t)
    for (const key of ['never', 'longer', 'shorter', 'again']) await sessions.put(key, '1', { ttlMs: 100 })
    await sessions.put('never', '2')
    await sessions.put('longer', '2', { ttlMs: 300 })
    await sessions.put('shorter', '2', { ttlMs: 50 })
    await sessions.del('again')
    await sessions.put('again', '2')

    clock.time += 50
    assert.deepEqual(await sessions.keys().all(), ['again', 'longer', 'never'])
    clock.time += 50
    assert.equal(await sessions.removeExpired(), 1)
    assert.deepEqual(await sessions.keys().all(), ['again', 'longer', 'never'])
    clock.time += 200
    assert.equal(await sessions.removeExpired(), 1)
    assert.deepEqual(await sessions.keys().all(), ['again', 'never'])
  })

  test(`${name}: each operation of a batch has its own time to live`, async (t) => {
    const { sessions, clock } = await opened(t, { defaultTtlMs: 100 })
    await sessions.batch(
      [
        { type: 'put', key: 'a', value: '1', ttlMs: 200 },
        { type: 'put', key: 'b', value: '1' },
        { type: 'put', key: 'c', value: '1', ttlMs: Infinity },
        { type: 'put', key: 'twice', value: '1', ttlMs: 200 },
        { type: 'put', key: 'twice', value: '2', ttlMs: Infinity }
      ],
      { ttlMs: 300 }
    )
    await sessions.batch().put('d', '1', { ttlMs: 200 }).put('e', '1').write()

    const expiries = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'twice', 'none'].map((key) => sessions.expiresAt(key))
    )
    const at = (ms) => clock.time + ms
    assert.deepEqual(expiries, [at(200), at(300), Infinity, at(200), at(100), Infinity, undefined])
  })

  test(`${name}: a batch of the view is one with the writes to its siblings`, async (t) => {
    const { db, clock, sessions } = await opened(t)
    const users = db.sublevel('users')
    await sessions.batch([
      { type: 'put', key: 's', value: 'anna', ttlMs: 100 },
      { type: 'put', sublevel: users, key: 'anna', value: 'Anna' }
    ])
    assert.equal(await sessions.get('s'), 'anna')
    assert.equal(await users.get('anna'), 'Anna')
    clock.time += 100
    assert.equal(await sessions.removeExpired(), 1)
    assert.deepEqual(await db.keys().all(), ['!users!anna'])
  })

  test(`${name}: a write through the database itself counts as well`, async (t) => {
    const { entries, sessions, clock } = await opened(t)
    await entries.put('a', '1', { ttlMs: 100 })
    await sessions.put('b', '1', { ttlMs: 100 })
    await entries.put('b', '2')
    clock.time += 100
    assert.equal(await sessions.removeExpired(), 1)
    assert.deepEqual(await entries.iterator().all(), [['b', '2']])
  })

  test(`${name}: writes that bypass the view count if every write runs hooks`, async (t) => {
    const { db, sessions, clock } = await opened(t)
    const other = db.sublevel('sessions')
    await sessions.put('kept', '1', { ttlMs: 100 })
    await db.batch([
      { type: 'put', sublevel: other, key: 'a', value: '1', ttlMs: 100 },
      { type: 'put', sublevel: other, key: 'kept', value: '2' }
    ])
    await other.put('b', '1', { ttlMs: 100 })
    await other.sublevel('x').put('c', '1', { ttlMs: 100 })
    clock.time += 100
    const all = ['!x!c', 'a', 'b', 'kept']
    assert.deepEqual(await sessions.keys().all(), isExact(db) ? ['kept'] : all.slice(0, 3))
    await sessions.removeExpired()
    assert.deepEqual(await other.keys().all(), isExact(db) ? ['kept'] : all.slice(0, 3))
  })

  test(`${name}: removal leaves nothing behind, however often an entry was written`, async (t) => {
    const { db, sessions, clock } = await opened(t)
    for (let round = 0; round < 50; round++) {
      clock.time += 1
      await sessions.put('a', String(round), { ttlMs: 100 })
    }
    assert.equal((await db.keys().all()).length, 3, 'an entry has one record and one line')
    clock.time += 100
    assert.equal(await sessions.removeExpired(), 1)
    assert.deepEqual(await db.keys().all(), [])
  })

  test(`${name}: cleared entries do not come back, nor do their expiries`, async (t) => {
    const { db, sessions, clock } = await opened(t)
    for (const key of ['a', 'b', 'c', 'd']) await sessions.put(key, '1', { ttlMs: 100 })
    await sessions.clear({ gte: 'b', reverse: true, limit: 2 })
    assert.deepEqual(await sessions.keys().all(), ['a', 'b'])
    await sessions.clear()
    await sessions.put('a', '2')
    clock.time += 100
    assert.equal(await sessions.removeExpired(), 0)
    assert.deepEqual(await db.keys().all(), ['!sessions!a'])
  })

  test(`${name}: touch gives a value another time to live`, async (t) => {
    const { sessions, clock } = await opened(t)
    await sessions.put('a', '1', { ttlMs: 100 })
    await sessions.put('b', '1')
    await sessions.put('c', '1', { ttlMs: 100 })
    clock.time += 50
    assert.equal(await sessions.touch('a', 100), true)
    assert.equal(await sessions.touch('b', 100), true)
    assert.equal(await sessions.touch('c', Infinity), true)
    assert.equal(await sessions.touch('none', 100), false)
    assert.equal(await sessions.expiresAt('a'), clock.time + 100)
    clock.time += 50
    assert.equal(await sessions.removeExpired(), 0)
    clock.time += 50
    assert.equal(await sessions.touch('a', 100), false, 'what has expired stays so')
    assert.equal(await sessions.removeExpired(), 2)
    assert.deepEqual(await sessions.iterator().all(), [['c', '1']])
  })

  test(`${name}: time does not go backwards`, async (t) => {
    const { sessions, clock } = await opened(t)
    await sessions.put('a', '1', { ttlMs: 100 })
    clock.time += 100
    assert.equal(await sessions.get('a'), undefined)
    clock.time -= 1_000_000
    assert.equal(await sessions.get('a'), undefined, 'what had expired stays so')
    await sessions.put('b', '1', { ttlMs: 100 })
    assert.equal(await sessions.expiresAt('b'), clock.time + 1_000_000 + 100)
    assert.equal(await sessions.removeExpired(), 1)
    assert.equal(await sessions.get('b'), '1')
  })

  test(`${name}: a time to live that is none is refused, and nothing is written`, async (t) => {
    const { db, entries, sessions } = await opened(t)
    for (const ttlMs of [0, -1, NaN, '100', null, 5n]) {
      const refused = { code: 'TTL_INVALID' }
      await assert.rejects(sessions.put('a', '1', { ttlMs }), refused)
      await assert.rejects(
        sessions.batch([
          { type: 'put', key: 'b', value: '1' },
          { type: 'put', key: 'a', value: '1', ttlMs }
        ]),
        refused
      )
      await assert.rejects(sessions.touch('a', ttlMs), refused)
      await assert.rejects(entries.put('a', '1', { ttlMs }), ({ code, cause }) => {
        return code === 'LEVEL_HOOK_ERROR' && cause.code === 'TTL_INVALID'
      })
      if (ttlMs !== null) assert.throws(() => ttl(entries, { defaultTtlMs: ttlMs }), refused)
    }
    for (const checkIntervalMs of [0, -1, NaN, 2 ** 31, '5']) {
      assert.throws(() => ttl(entries, { checkIntervalMs }), { code: 'TTL_INVALID' })
    }
    assert.deepEqual(await db.keys().all(), [])
  })

  test(`${name}: a clock that returns no time is an error of the call that asks`, async (t) => {
    const { sessions, clock } = await opened(t)
    await sessions.put('a', '1', { ttlMs: 100 })
    clock.time = Number.NaN
    await assert.rejects(sessions.get('a'), { code: 'TTL_INVALID_CLOCK' })
    await assert.rejects(sessions.removeExpired(), { code: 'TTL_INVALID_CLOCK' })
  })

  test(`${name}: a life beyond what numbers can tell does not end`, async (t) => {
    const { sessions } = await opened(t)
    await sessions.put('a', '1', { ttlMs: Number.MAX_SAFE_INTEGER })
    assert.equal(await sessions.expiresAt('a'), Infinity)
  })

  test(`${name}: what expires is removed in the background`, async (t) => {
    const db = await open(t)
    const entries = db.sublevel('sessions')
    const clock = stoppedClock()
    const sessions = ttl(entries, { checkIntervalMs: 1, defaultTtlMs: 20, now: clock.now })
    await sessions.put('a', '1')
    await sessions.put('b', '1', { ttlMs: Infinity })
    clock.time += 20
    await until(async () => (await db.keys().all()).length === 1, 'what is expired to be removed')
    assert.deepEqual(await db.keys().all(), ['!sessions!b'])
  })
}
