// The current entries, and their changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { feed, watch } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { next } from './support.js'

/** The state that a watcher of a range derives from its events, until a key is put. */
async function stateUntil(watcher, lastKey) {
  const state = new Map()
  for await (const { type, key, value } of watcher) {
    if (type === 'reset') state.clear()
    else if (type === 'put') state.set(key, value)
    else state.delete(key)
    if (key === lastKey) return [...state].sort()
  }
  throw new Error('the watcher ended')
}

/** A database whose writes can be held up: they take effect later, in order. */
class HeldLevel extends MemoryLevel {
  #last = Promise.resolve()

  /** Holds up the writes from now on, until the returned function is called. */
  hold() {
    let release
    const released = new Promise((resolve) => {
      release = resolve
    })
    this.#last = this.#last.then(() => released)
    return release
  }

  #inTurn(write) {
    this.#last = this.#last.then(write)
    return this.#last
  }

  _put(...args) {
    return this.#inTurn(() => super._put(...args))
  }

  _del(...args) {
    return this.#inTurn(() => super._del(...args))
  }

  _batch(...args) {
    return this.#inTurn(() => super._batch(...args))
  }
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: a key by a feed: what it is, then every change of it`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const changes = feed(db)
    await db.put('a', 0)
    const watcher = watch(changes, { key: 'a' })
    const missing = watch(changes, { key: 'b' })
    assert.deepEqual(await next(watcher), { type: 'put', key: 'a', value: 0, initial: true })
    assert.deepEqual(await next(missing), { type: 'del', key: 'b', initial: true })
    for (const value of [1, 2, 3])
      await db.batch([
        { type: 'put', key: 'a', value },
        { type: 'put', key: 'ab', value }
      ])
    await db.del('a')
    await db.put('b', 1)
    const found = [await next(watcher), await next(watcher), await next(watcher), await next(watcher)]
    assert.deepEqual(
      found.map(({ type, value, initial }) => [type, value, initial]),
      [
        ['put', 1, false],
        ['put', 2, false],
        ['put', 3, false],
        ['del', undefined, false]
      ]
    )
    assert.deepEqual(await next(missing), { type: 'put', key: 'b', value: 1, initial: false })
    await watcher.return()
    await missing.return()
  })

  test(`${name}: a slow watcher that wants the latest gets the latest`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    const watcher = watch(changes, { prefix: 'k' }, { latest: true })
    const first = next(watcher)
    await turns(5)
    await db.put('k0', 'first')
    assert.equal((await first).value, 'first')
    for (let i = 0; i < 900; i++) await db.put(`k${i % 3}`, `${i}`)
    assert.deepEqual(
      [await next(watcher), await next(watcher), await next(watcher)].map(({ value }) => value),
      ['897', '898', '899']
    )
    await watcher.return()

    const latest = await all(changes.read({ latest: true }))
    assert.deepEqual(
      latest.map(({ key, value, sequence }) => [key, value, sequence]),
      [
        ['k0', '897', 899],
        ['k1', '898', 900],
        ['k2', '899', 901]
      ]
    )
  })

  for (const source of ['a feed', 'a database']) {
    test(`${name}: a range by ${source} becomes what the range is`, async (t) => {
      const db = await open(t)
      const sub = db.sublevel('sub')
      await sub.open()
      const watched = source === 'a feed' ? feed(sub) : sub
      const random = randomNumbers(23)
      const operation = () => {
        const key = `k${random(300)}`
        return random(3) === 0 ? { type: 'del', key } : { type: 'put', key, value: `${random(1e6)}` }
      }
      const write = () => {
        const kind = random(30)
        if (kind === 0) return sub.clear({ gte: `k${random(300)}`, limit: 20 })
        if (kind === 1) return sub.batch(Array.from({ length: 1500 }, operation))
        const { type, key, value } = operation()
        return type === 'put' ? sub.put(key, value) : sub.del(key)
      }
      await sub.batch(Array.from({ length: 100 }, operation))
      const watching = [
        stateUntil(watch(watched, { gte: 'k1' }), 'z'),
        stateUntil(watch(watched, { gte: 'k1' }, { latest: true }), 'z')
      ]
      for (let round = 0; round < scaled(60, 20); round++) {
        await Promise.all(Array.from({ length: random(12) }, write))
        if (round % 7 === 0) await turns(2)
      }
      await sub.put('outside', '')
      await sub.put('z', 'end')
      const expected = await sub.iterator({ gte: 'k1' }).all()
      for (const state of await Promise.all(watching)) assert.deepEqual(state, expected)
    })
  }

  test(`${name}: a watcher that the retention overtakes begins again`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { retention: { count: 300 } })
    await db.put('gone', '')
    const watcher = watch(changes, {})
    assert.equal((await next(watcher)).key, 'gone')
    const waiting = next(watcher)
    await db.del('gone')
    assert.equal((await waiting).type, 'del')
    for (let i = 0; i < scaled(1500, 900); i++) await db.put(`${i % 50}`, `${i}`)
    await changes.trim()

    const events = []
    for await (const event of watcher) {
      events.push(event)
      if (events.some(({ type }) => type === 'reset') && events.at(-1).key === '9') break
    }
    const { length } = events
    const resetAt = events.findIndex(({ type }) => type === 'reset')
    assert.ok(resetAt >= 0 && resetAt < 300)
    assert.equal(length - resetAt - 1, 50)
    assert.ok(events.slice(resetAt + 1).every(({ initial }) => initial))
  })

  test(`${name}: a key of a database without a feed, and the end`, async (t) => {
    const db = await open(t)
    const watcher = watch(db, { key: 'a' })
    assert.deepEqual(await next(watcher), { type: 'del', key: 'a', initial: true })
    for (const value of ['1', '2']) {
      const waiting = next(watcher)
      await turns(5)
      await db.put('other', '')
      await db.put('a', value)
      assert.deepEqual(await waiting, { type: 'put', key: 'a', value, initial: false })
    }
    const waiting = next(watcher)
    await turns(5)
    await db.clear()
    assert.deepEqual(await waiting, { type: 'del', key: 'a', initial: false })

    const controller = new AbortController()
    const aborted = watch(db, {}, { signal: controller.signal })
    const pending = next(aborted)
    await turns(5)
    controller.abort()
    await assert.rejects(pending, { code: 'FEED_ABORTED' })
    const last = next(watcher)
    await turns(5)
    await db.close()
    assert.equal(await last, undefined)
    assert.equal(db.listenerCount('write'), 0)
  })
}

test('a write that was under way when a watcher of a database began does not leave it with the old value', async (t) => {
  const db = new HeldLevel()
  t.after(() => db.close())
  await db.batch(['a', 'b'].map((key) => ({ type: 'put', key, value: 'old' })))
  for (const watched of [{ key: 'a' }, {}]) {
    await db.put('a', 'old')
    const release = db.hold()
    const write = db.put('a', 'new')
    const watcher = watch(db, watched)
    const state = new Map()
    const reading = (async () => {
      for await (const { key, value } of watcher) state.set(key, value)
    })()
    await turns(20)
    release()
    await write
    await until(() => state.get('a') === 'new')
    await watcher.return()
    await reading
    assert.equal(state.get('a'), 'new')
  }
})

test('a watcher of a database ends while it waits for a write that was under way', async () => {
  for (const end of ['return', 'abort', 'close']) {
    const db = new HeldLevel()
    await db.open()
    const release = db.hold()
    const write = db.put('a', 'new')
    const controller = new AbortController()
    const watcher = watch(db, { key: 'a' }, { signal: controller.signal })
    const first = next(watcher)
    await turns(5)
    if (end === 'return') await watcher.return()
    if (end === 'abort') controller.abort()
    const closed = end === 'close' ? db.close() : undefined
    if (end === 'abort') await assert.rejects(first, { code: 'FEED_ABORTED' })
    else assert.equal(await first, undefined)
    release()
    await Promise.allSettled([write, closed])
    await db.close()
  }
})

test('what cannot be watched is refused', async (t) => {
  const db = await databases['memory-level'](t)
  const changes = feed(db, { values: false })
  assert.throws(() => watch(changes, { key: 'a' }), { code: 'FEED_INVALID_OPTION' })
  assert.throws(() => watch(db, { prefix: 'a', gt: 'a' }), { code: 'FEED_INVALID_OPTION' })
})
