// Random histories of transactions through a view and through the plain database, of plain writes, of `touch` and of removals.
// Each must be equivalent to one thing after the other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'
import { scaled } from '../../../../tests/support/form.mjs'
import { stoppedClock } from '../support/clock.js'
import { databases, isExact } from '../support/databases.js'
import { randomNumbers } from '../support/random.js'
import { entriesOf, inOrderOfEnd, serialOrder } from '../transaction/support/serial-order.js'

const KEYS = ['a', 'b', 'c', 'd']
/** Over other databases, each round takes longer. */
const ROUNDS = scaled(process.env.TERRACE_TEST_DATABASE === undefined ? 30 : 10, 5)
const TRANSACTIONS = 7
const PLAIN_WRITES = 3

/**
 * An entry of the model: its value and when it expires. The clock stands still during a round, and nothing happens between
 * rounds.
 */
const entryOf = (value, expiry) => `${value} until ${expiry}`
const textOf = (entry) => entry?.split(' until ')[0]

class History {
  constructor({ db, entries, view, clock, random }) {
    Object.assign(this, { db, entries, view, clock, random })
    this.through = [transactions(view), transactions(db)]
    this.made = 0
  }

  newValue() {
    return `v${this.made++}`
  }

  /** A time to live for a write, and when it ends. */
  life() {
    const ttlMs = [undefined, Number.POSITIVE_INFINITY, 5, 10, 1000][this.random(5)]
    const options = ttlMs === undefined && this.random(2) === 0 ? {} : { ttlMs }
    return { options, expiry: ttlMs === undefined ? Number.POSITIVE_INFINITY : this.clock.time + ttlMs }
  }

  async dawdle() {
    const how = this.random(3)
    if (how === 1) await null
    if (how === 2) await new Promise((resolve) => setImmediate(resolve))
  }

  /** The entries that have not expired. */
  async state() {
    const state = new Map()
    for await (const [key, value] of this.view.iterator()) {
      state.set(key, entryOf(value, await this.view.expiresAt(key)))
    }
    return state
  }

  /** The entries that have expired and may still be stored. */
  async leftOver() {
    const live = new Set(await this.view.values().all())
    return new Set((await this.entries.values().all()).filter((value) => !live.has(value)))
  }

  /** One of the two `transactions()`, and how it names the sublevel of the entries. */
  someone() {
    const target = [this.view, this.entries][this.random(2)]
    if (target === this.view && this.random(2) === 0)
      return { transaction: this.through[0], options: {}, target }
    return { transaction: this.through[1], options: { sublevel: target }, target }
  }

  /** A transaction of a few reads and writes. Returns what happened in the attempt that was committed. */
  async transaction(leftOver) {
    const { transaction, options } = this.someone()
    let event
    await transaction(
      async (tx) => {
        event = { reads: [], writes: [] }
        const own = new Map()
        for (let i = 2 + this.random(3); i > 0; i--) {
          const key = KEYS[this.random(KEYS.length)]
          const kind = this.random(5)
          if (kind < 2) {
            const found = await tx.get(key, options)
            // Without the view, an expired entry is visible until it is removed.
            const live = leftOver.has(found) ? undefined : found
            const written = own.get(key)
            const read =
              written === undefined ? (state) => textOf(state.get(key)) : () => textOf(written.value)
            event.reads.push({ read, found: live })
          } else if (kind < 3) {
            const known = new Map(own)
            const found = (await tx.iterator(options).all()).filter(([, value]) => !leftOver.has(value))
            event.reads.push({ read: (state) => this.visible(state, known), found })
          } else {
            const life = this.life()
            const value = this.newValue()
            const isPut = kind === 3
            if (isPut) tx.put(key, value, { ...options, ...life.options })
            else tx.del(key, options)
            const write = isPut
              ? { type: 'put', key, value: entryOf(value, life.expiry) }
              : { type: 'del', key, value: undefined }
            event.writes.push(write)
            own.set(key, write)
          }
          await this.dawdle()
        }
      },
      { retries: 1000, sync: this.random(8) === 0 }
    )
    return event
  }

  visible(state, own) {
    const all = new Map(state)
    for (const [key, { value }] of own) {
      if (value === undefined) all.delete(key)
      else all.set(key, value)
    }
    return entriesOf(all).map(([key, entry]) => [key, textOf(entry)])
  }

  /** A conditional write. It sees only live entries, whatever it names. */
  async conditional() {
    const { transaction, options } = this.someone()
    const key = KEYS[this.random(KEYS.length)]
    const life = this.life()
    const value = this.newValue()
    const all = { ...options, ...life.options, retries: 1000 }
    const put = { type: 'put', key, value: entryOf(value, life.expiry) }

    if (this.random(2) === 0) {
      const isTaken = await transaction.ifAbsent(key, value, all)
      return {
        reads: [{ read: (state) => !state.has(key), found: isTaken }],
        writes: isTaken ? [put] : []
      }
    }

    let before
    await transaction.update(
      key,
      (old) => {
        before = old
        return value
      },
      all
    )
    return { reads: [{ read: (state) => textOf(state.get(key)), found: before }], writes: [put] }
  }

  /** A write that knows nothing of transactions, or another time to live. */
  async plain() {
    const key = KEYS[this.random(KEYS.length)]
    const target = [this.view, this.entries][this.random(2)]
    const life = this.life()
    const value = this.newValue()
    const options = { ...life.options, sync: this.random(3) === 0 }
    const kind = this.random(4)

    if (kind === 0) {
      await target.del(key)
      return { reads: [], writes: [{ type: 'del', key }] }
    }
    if (kind === 1) {
      const ttlMs = [5, 1000, Number.POSITIVE_INFINITY][this.random(3)]
      const isThere = await this.view.touch(key, ttlMs)
      const change = (entry) => entry && entryOf(textOf(entry), this.clock.time + ttlMs)
      return {
        reads: [{ read: (state) => state.has(key), found: isThere }],
        writes: isThere ? [{ type: 'change', key, change }] : []
      }
    }
    if (kind === 2) await target.batch([{ type: 'put', key, value, ...life.options }], { sync: options.sync })
    else await target.put(key, value, options)
    return { reads: [], writes: [{ type: 'put', key, value: entryOf(value, life.expiry) }] }
  }

  /** Runs everything at once. */
  async round(plainWrites) {
    const before = await this.state()
    const leftOver = await this.leftOver()
    const calls = [
      ...Array.from({ length: TRANSACTIONS }, () => () => this.transaction(leftOver)),
      ...Array.from({ length: 3 }, () => () => this.conditional()),
      ...Array.from({ length: plainWrites }, () => () => this.plain())
    ]
    const removing = isExact(this.db)
      ? this.dawdle().then(() => this.view.removeExpired())
      : await this.view.removeExpired()
    const events = await inOrderOfEnd(
      calls.map(async (call) => {
        await this.dawdle()
        return call()
      })
    )
    await removing
    const after = await this.state()
    assert.ok(serialOrder(events, before, after) !== undefined, 'there is a serial order')
    this.clock.time += this.random(8)
  }
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: histories at random with a view have a serial order`, async (t) => {
    const db = await open(t)
    const clock = stoppedClock()
    const entries = db.sublevel('entries')
    const view = ttl(entries, { checkIntervalMs: Infinity, now: clock.now })
    await view.open()
    const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000)
    const history = new History({ db, entries, view, clock, random: randomNumbers(seed) })
    // On other databases, concurrent writes, including removals, have no known order.
    const plainWrites = isExact(db) ? PLAIN_WRITES : 0
    let rounds = 0

    try {
      for (; rounds < ROUNDS; rounds++) await history.round(plainWrites)
    } catch (error) {
      error.message += ` (round ${rounds}, TERRACE_SEED=${seed})`
      throw error
    }
    t.diagnostic(`${rounds} histories, seed ${seed}`)
  })
}
