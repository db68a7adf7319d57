// Indexes, counts and feeds of a database without synchronous reads, so that their hooks have to wait for what they read:
// random histories against a model, with failing reads and writes, and reads that are combined.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BackendLevel } from 'terrace-core'
import { count, feed } from 'terrace-toolbox/feed'
import { index } from 'terrace-toolbox/index'
import { ttl } from 'terrace-toolbox/ttl'
import { scaled, someOf } from '../../../tests/support/form.mjs'
import { ArrayBackend, FAILURE } from '../../core/test/support/array-backend.js'
import { all } from './support/collect.js'
import { randomNumbers } from './support/random.js'

const HISTORIES = Number(process.env.TERRACE_HISTORIES ?? scaled(12))
const FIRST = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)
const inStep = { missing: 0, stale: 0, wrong: 0 }

/** Users with a name and an address, each unique among them, and all parts that derive something from them. */
class Users {
  /** The calls so far, in order: `{ operations, ending }`, or `range` instead of operations. */
  calls = []
  #waiting = []
  /** Another object of the same sublevel. */
  #other

  constructor(seed) {
    this.below = randomNumbers(seed)
    this.backend = new ArrayBackend({ seed })
    this.db = new BackendLevel(this.backend)
    this.users = this.db.sublevel('users', { valueEncoding: 'json' })
    this.#other = this.db.sublevel('users', { valueEncoding: 'json' })
  }

  async open() {
    await Promise.all([this.users.open(), this.#other.open()])
    return this
  }

  /** Declares the parts when users already exist. */
  declare() {
    const { users } = this
    this.parts = {
      byName: index(users, { name: 'name', on: 'name' }),
      byAddress: index(users, { name: 'address', on: 'address', unique: true }),
      names: count(users, { name: 'names', of: (_, { name }) => name }),
      changes: feed(users, { oldValues: true })
    }
  }

  operation(addresses) {
    const key = `k${this.below(12)}`
    if (this.below(4) === 0) return { type: 'del', key }
    const address = addresses === undefined ? `${key} ${this.below(100)}` : `a${this.below(addresses)}`
    return { type: 'put', key, value: { name: `n${this.below(4)}`, address } }
  }

  /** Starts a call without waiting for it. */
  step(addresses) {
    const { users, db } = this
    const operations = Array.from({ length: 1 + this.below(4) }, () => this.operation(addresses))
    const [first] = operations
    const way = this.below(8)
    if (way < 3) {
      const written = first.type === 'put' ? users.put(first.key, first.value) : users.del(first.key)
      this.#note({ operations: [first] }, written)
    } else if (way === 3) {
      const others = operations.map((each) => ({ ...each, sublevel: users }))
      this.#note({ operations }, db.batch(others))
    } else if (way === 4) {
      const batch = users.batch()
      for (const { type, key, value } of operations) type === 'put' ? batch.put(key, value) : batch.del(key)
      this.#note({ operations }, batch.write())
    } else if (way === 5 && this.below(3) === 0) {
      const range = { gte: `k${this.below(12)}`, limit: 1 + this.below(5) }
      this.#note({ range }, users.clear(range))
    } else {
      this.#note({ operations }, this.#other.batch(operations))
    }
  }

  #note(call, written) {
    this.calls.push(call)
    const ended = written.then(
      () => {
        call.ending = 'done'
      },
      ({ code, cause }) => {
        call.ending = cause?.code ?? code
      }
    )
    this.#waiting.push(ended)
  }

  async run(steps, addresses) {
    for (let step = 0; step < steps; step++) {
      this.step(addresses)
      if (this.below(3) === 0) await nextTurn()
    }
    await Promise.all(this.#waiting.splice(0))
  }

  /**
   * Calls until some have failed. Since calls are grouped, few reach the back-end, so a round may by chance have no failures.
   */
  async runUntilCallsFail(share) {
    const hasFailed = () => this.calls.some(({ ending }) => ending === FAILURE)
    this.backend.failures = share
    for (let round = 0; round < 20 && !hasFailed(); round++) await this.run(80, 10)
    this.backend.failures = 0
    assert.ok(hasFailed())
  }

  stored() {
    return this.users.iterator().all()
  }

  /** Compares the contents of each part with the users. */
  async check() {
    const { byName, byAddress, names, changes } = this.parts
    const stored = await this.stored()
    const records = stored.length
    assert.deepEqual(await byName.verify(), { records, entries: records, ...inStep })
    assert.deepEqual(await byAddress.verify(), { records, entries: records, ...inStep })
    assert.deepEqual(await names.verify(), [])
    return { stored, changes: await all(changes.read()) }
  }
}

/** The users after the calls. Checks that each call ended as it should. */
function replayed(calls, before) {
  let entries = new Map(before)
  for (const { operations, range, ending } of calls) {
    const after = new Map(entries)
    const expected = operations === undefined ? clear(after, range) : apply(after, operations)
    assert.equal(ending, expected, JSON.stringify({ operations, range }))
    if (ending === 'done') entries = after
  }
  return sorted(entries)
}

function apply(entries, operations) {
  for (const { type, key, value } of operations) {
    const isTaken = ([other, { address }]) => other !== key && address === value?.address
    if (type === 'put' && [...entries].some(isTaken)) return 'TOOLBOX_UNIQUE'
    if (type === 'put') entries.set(key, value)
    else entries.delete(key)
  }
  return 'done'
}

function clear(entries, { gte, limit }) {
  for (const [key] of sorted(entries)
    .filter(([key]) => key >= gte)
    .slice(0, limit)) {
    entries.delete(key)
  }
  return 'done'
}

function sorted(entries) {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The users after the changes of a feed. Checks the old value of each change. */
function afterChanges(changes, before) {
  const entries = new Map(before)
  let last = 0
  for (const { sequence, type, key, value, oldValue } of changes) {
    assert.ok(sequence > last)
    last = sequence
    assert.deepEqual(oldValue, entries.get(key))
    if (type === 'put') entries.set(key, value)
    else entries.delete(key)
  }
  return sorted(entries)
}

for (let seed = FIRST; seed < FIRST + HISTORIES; seed++) {
  test(`a history at random leaves what a model says, in each part (TERRACE_SEED=${seed})`, async () => {
    const history = await new Users(seed).open()
    await history.run(10)
    const before = await history.stored()
    history.calls.length = 0
    history.declare()
    // The first writes arrive while existing entries are indexed and counted.
    await history.run(30)
    const { byName, byAddress, names } = history.parts
    await Promise.all([byName.ready, byAddress.ready, names.ready()])
    await history.run(60, 10)

    const { stored, changes } = await history.check()
    assert.deepEqual(stored, replayed(history.calls, before))
    assert.deepEqual(stored, afterChanges(changes, before))
    await history.db.close()
  })

  test(`reads and writes that fail leave each part in step (TERRACE_SEED=${seed})`, async () => {
    const history = await new Users(seed).open()
    history.declare()
    await history.run(20)
    const { byName, byAddress, names } = history.parts
    await Promise.all([byName.ready, byAddress.ready, names.ready()])
    await history.runUntilCallsFail(0.1)

    const { stored, changes } = await history.check()
    assert.deepEqual(stored, afterChanges(changes, []))
    await history.db.close()
  })
}

test('a count whose building fails at any write is right after it is called again', async () => {
  for (const failing of someOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])) {
    const backend = new ArrayBackend({ seed: failing })
    const db = new BackendLevel(backend)
    await db.batch(
      Array.from({ length: 1200 }, (_, i) => ({ type: 'put', key: `k${i}`, value: `v${i % 3}` }))
    )
    let writes = 0
    backend.write = function (...args) {
      if (++writes !== failing) return ArrayBackend.prototype.write.apply(this, args)
      return Promise.reject(Object.assign(new Error('full'), { code: FAILURE }))
    }
    const numbers = count(db, { name: 'n', of: (_, value) => value })
    const beside = Array.from({ length: 20 }, (_, i) => db.put(`k${i * 60}`, `v${i % 4}`).catch(() => {}))
    await numbers.ready().catch(({ code }) => assert.equal(code, 'COUNT_BUILD_FAILED'))
    await Promise.all(beside)
    beside.push(db.put('k7', 'v9'), db.del('k8'))
    await numbers.ready()
    await Promise.all(beside)
    assert.deepEqual(await numbers.verify(), [], `write ${failing} failed`)
    await db.close()
  }
})

test('a hundred writes with an index, a count, a feed and times to live are read for and written together', async () => {
  const backend = new ArrayBackend({ seed: 1 })
  const db = new BackendLevel(backend)
  const users = db.sublevel('users', { valueEncoding: 'json' })
  const view = ttl(users, { valueEncoding: 'json' })
  const byName = index(users, { name: 'name', on: 'name' })
  const byAddress = index(users, { name: 'address', on: 'address', unique: true })
  const names = count(users, { name: 'names', of: (_, { name }) => name })
  feed(users, { oldValues: true })
  await Promise.all([view.open(), byName.ready, byAddress.ready, names.ready()])

  for (const round of [1, 2]) {
    Object.assign(backend.calls, { write: 0, read: 0 })
    const value = (i) => ({ name: `name ${(i + round) % 10}`, address: `address ${(i + round) % 100}` })
    if (round === 2) await users.clear()
    await Promise.all(Array.from({ length: 100 }, (_, i) => view.put(`k${i}`, value(i), { ttlMs: 60_000 })))
    assert.ok(backend.calls.write <= 4, `${backend.calls.write} writes`)
    assert.ok(backend.calls.read <= 15, `${backend.calls.read} reads`)
  }
  assert.deepEqual(await byName.verify(), { records: 100, entries: 100, ...inStep })
  assert.deepEqual(await names.verify(), [])
  await db.close()
})
