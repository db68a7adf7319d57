// Removal together with hooks, concurrent writes, and closing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ttl } from 'terrace-toolbox/ttl'
import { scaled, someOf } from '../../../../tests/support/form.mjs'
import { countTurns, until } from '../../../../tests/support/waiting.mjs'
import { stoppedClock } from '../support/clock.js'
import { databases } from '../support/databases.js'

const hold = { checkIntervalMs: Infinity }

/** The numbers of rounds, each of which has its own moment at which something is written. */
const roundsOf = (count) => someOf(Array.from({ length: count }, (_, round) => round))

for (const [name, open] of Object.entries(databases)) {
  async function opened(t, options) {
    const db = await open(t)
    const clock = stoppedClock()
    const entries = db.sublevel('sessions')
    const sessions = ttl(entries, { ...hold, now: clock.now, ...options })
    await sessions.open()
    return { db, clock, entries, sessions }
  }

  test(`${name}: hooks and listeners see what is removed`, async (t) => {
    const { entries, sessions, clock } = await opened(t)
    const seen = []
    const note = (who) => (operation) => {
      if (operation.type === 'del' && operation.sublevel == null) seen.push([who, String(operation.key)])
    }
    sessions.hooks.prewrite.add(note('hook of the view'))
    entries.hooks.prewrite.add(note('hook beneath'))
    sessions.on('write', (operations) => operations.forEach(note('listener of the view')))

    await sessions.put('a', '1', { ttlMs: 100 })
    clock.time += 100
    await sessions.removeExpired()
    assert.deepEqual(seen, [
      ['hook of the view', 'a'],
      ['hook beneath', 'a'],
      ['listener of the view', 'a']
    ])
  })

  test(`${name}: what a hook refuses to remove stays hidden, and the others go`, async (t) => {
    const { entries, sessions, clock } = await opened(t)
    for (const key of ['a', 'b', 'c']) await sessions.put(key, '1', { ttlMs: 100 })
    const refuse = ({ type, key }) => {
      if (type === 'del' && String(key) === 'b') throw new Error('b stays')
    }
    sessions.hooks.prewrite.add(refuse)
    clock.time += 100

    await assert.rejects(sessions.removeExpired(), { code: 'LEVEL_HOOK_ERROR' })
    assert.deepEqual(await entries.keys().all(), ['b'])
    assert.deepEqual(await sessions.keys().all(), [])
    sessions.hooks.prewrite.delete(refuse)
    assert.equal(await sessions.removeExpired(), 1)
    assert.deepEqual(await entries.keys().all(), [])
  })

  test(`${name}: the background tells what went wrong, and tries again`, async (t) => {
    const told = []
    const onError = (error) => told.push(error.code)
    const { sessions, clock } = await opened(t, { checkIntervalMs: 1, onError })
    sessions.hooks.prewrite.add(({ type }) => {
      if (type === 'del') throw new Error('no')
    })
    await sessions.put('a', '1', { ttlMs: 100 })
    clock.time += 100
    await until(() => told.length >= 2, 'two errors')
    assert.deepEqual(told.slice(0, 2), ['LEVEL_HOOK_ERROR', 'LEVEL_HOOK_ERROR'])
  })

  test(`${name}: an entry that is written while it is removed stays`, async (t) => {
    const { sessions, clock } = await opened(t)
    const keys = Array.from({ length: 20 }, (_, index) => `key${index}`)

    for (const round of roundsOf(40)) {
      await Promise.all(keys.map((key) => sessions.put(key, 'old', { ttlMs: 1 })))
      clock.time += 1
      const value = `new ${round}`
      const removing = sessions.removeExpired()
      // At different moments of the removal.
      for (let wait = 0; wait < round; wait++) await null
      const writes = keys.map((key, index) =>
        index % 2 === 0
          ? sessions.put(key, value)
          : sessions.batch([{ type: 'put', key, value, ttlMs: 1000 }])
      )
      await Promise.all([removing, ...writes])
      assert.deepEqual(
        await sessions.getMany(keys),
        keys.map(() => value)
      )
    }
  })

  // classic-level does not define the order of concurrent writes.
  if (name !== 'classic-level') {
    test(`${name}: an entry that is written to the database while it is being removed stays`, async (t) => {
      const { entries, sessions, clock } = await opened(t)
      const keys = ['a', 'b', 'c', 'd']

      for (const round of roundsOf(60)) {
        await Promise.all(keys.map((key) => sessions.put(key, 'old', { ttlMs: 1 })))
        clock.time += 1
        const removing = sessions.removeExpired()
        for (let wait = 0; wait < round; wait++) await null
        await Promise.all([removing, entries.put('b', `new ${round}`)])
        assert.equal(await sessions.get('b'), `new ${round}`)
        await sessions.removeExpired()
        assert.deepEqual(await entries.keys().all(), ['b'])
      }
    })

    test(`${name}: an entry whose write waits for a sync while it is removed stays`, async (t) => {
      const { entries, sessions, clock } = await opened(t)

      for (const round of roundsOf(60)) {
        await Promise.all(['a', 'b', 'c', 'd'].map((key) => sessions.put(key, 'old', { ttlMs: 1 })))
        clock.time += 1
        const removing = round % 2 === 0 ? sessions.removeExpired() : undefined
        for (let wait = 0; wait < round % 20; wait++) await null
        const writing = entries.put('b', `new ${round}`, { sync: true })
        for (let wait = 0; wait < round % 7; wait++) await null
        await Promise.all([removing ?? sessions.removeExpired(), writing])
        assert.equal(await sessions.get('b'), `new ${round}`)
        await sessions.removeExpired()
        assert.deepEqual(await entries.keys().all(), ['b'])
      }
    })
  }

  test(`${name}: random writes, expiry and removal agree with a model`, async (t) => {
    let seed = 7
    const random = (limit) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      return Math.floor((seed / 2 ** 32) * limit)
    }
    const { db, sessions, clock } = await opened(t)
    const model = new Map()
    const pending = []
    const settle = () => Promise.all(pending.splice(0))

    for (let step = 0; step < scaled(1500, 400); step++) {
      const key = String.fromCharCode(97 + random(12))
      const ttlMs = random(3) === 0 ? undefined : 1 + random(20)
      const expiry = ttlMs === undefined ? Infinity : clock.time + ttlMs
      const kind = random(10)

      if (kind < 4) {
        // The order of concurrent writes to one key is unknown, so they come one after the other.
        await settle()
        pending.push(sessions.put(key, String(step), { ttlMs }))
        model.set(key, { value: String(step), expiry })
      } else if (kind < 5) {
        await settle()
        pending.push(sessions.del(key))
        model.delete(key)
      } else if (kind < 6) {
        await settle()
        const isThere = (model.get(key)?.expiry ?? 0) > clock.time
        assert.equal(await sessions.touch(key, ttlMs ?? Infinity), isThere)
        if (isThere) model.get(key).expiry = expiry
      } else if (kind < 8) {
        pending.push(sessions.removeExpired())
      } else {
        await settle()
        clock.time += random(8)
        const live = [...model].filter(([, { expiry }]) => expiry > clock.time).sort()
        assert.deepEqual(
          await sessions.iterator().all(),
          live.map(([key, { value }]) => [key, value])
        )
      }
    }

    await settle()
    clock.time += 100
    await sessions.removeExpired()
    const stays = [...model]
      .filter(([, { expiry }]) => expiry === Infinity)
      .map(([key]) => `!sessions!${key}`)
    assert.deepEqual(await db.keys().all(), stays.sort(), 'nothing else is left, not even beside')
  })

  test(`${name}: many are removed in batches, and the event loop has its turns`, async (t) => {
    const { db, entries, sessions, clock } = await opened(t)
    const count = scaled(5000, 3000)
    for (let first = 0; first < count; first += 1000) {
      await sessions.batch(
        Array.from({ length: 1000 }, (_, index) => ({
          type: 'put',
          key: String(first + index).padStart(6, '0'),
          value: '1',
          ttlMs: 1 + ((first + index) % 7)
        }))
      )
    }
    const batches = []
    entries.on('write', (operations) => batches.push(operations.length))
    // Each look at the clock finds that a while has passed.
    let now = performance.now()
    t.mock.method(performance, 'now', () => ++now)
    const counter = countTurns(t)
    clock.time += 7
    assert.equal(await sessions.removeExpired(), count)
    const { turns } = counter

    assert.ok(batches.length >= count / 1000)
    assert.ok(Math.max(...batches) <= 4000, `${Math.max(...batches)} operations in a batch`)
    assert.ok(turns > 0)
    assert.deepEqual(await db.keys().all(), [])
  })

  test(`${name}: calls of removeExpired at the same time share the work`, async (t) => {
    const { sessions, clock } = await opened(t)
    await sessions.put('a', '1', { ttlMs: 1 })
    clock.time += 1
    assert.deepEqual(await Promise.all([sessions.removeExpired(), sessions.removeExpired()]), [1, 1])
  })

  test(`${name}: closing the database ends the removal`, async (t) => {
    const { db, sessions, clock } = await opened(t, { checkIntervalMs: 1 })
    await sessions.batch(
      Array.from({ length: 5000 }, (_, index) => ({ type: 'put', key: `${index}`, value: '1', ttlMs: 1 }))
    )
    clock.time += 1
    const removing = sessions.removeExpired()
    await new Promise(setImmediate)
    const [removal] = await Promise.allSettled([removing, db.close()])
    if (removal.status === 'rejected') assert.equal(removal.reason.code, 'LEVEL_DATABASE_NOT_OPEN')
    else assert.ok(removal.value <= 5000)
    assert.equal(sessions.status, 'closed')
    await assert.rejects(sessions.removeExpired(), { code: 'LEVEL_DATABASE_NOT_OPEN' })
    await assert.rejects(sessions.put('a', '1'), { code: 'LEVEL_DATABASE_NOT_OPEN' })
  })

  test(`${name}: a database has one view at a time`, async (t) => {
    const { entries, sessions } = await opened(t)
    const second = ttl(entries, hold)
    await assert.rejects(second.open(), ({ cause }) => cause.code === 'TTL_IN_USE')
    await sessions.close()
    await second.open()
    await second.put('a', '1', { ttlMs: 1000 })
    assert.notEqual(await second.expiresAt('a'), Infinity)
  })
}
