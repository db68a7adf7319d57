// Random histories of transactions: each must be equivalent to running one transaction after another.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytewise } from 'terrace-bytewise'
import { transactions } from 'terrace-toolbox/transaction'
import { scaled } from '../../../../tests/support/form.mjs'
import { turns } from '../../../../tests/support/waiting.mjs'
import { databases } from '../support/databases.js'
import { entriesOf, inOrderOfEnd, serialOrder } from './support/serial-order.js'

const KEYS = ['a', 'b', 'c', 'd', 'e']
const ROUNDS = scaled(40)
const TRANSACTIONS = 8
const PLAIN_WRITES = 4

/** Two key spaces with different encodings. In histories, their keys begin with 0 and 1. */
const spacesOf = (db) => [
  db.sublevel('texts', { valueEncoding: 'utf8' }),
  db.sublevel(['tuples', 'deep'], { keyEncoding: bytewise, valueEncoding: 'json' })
]

const below = (count) => Math.floor(Math.random() * count)

/** Lets others have a turn, for a random time. */
async function dawdle() {
  const how = below(4)
  if (how === 1) await null
  if (how === 2) await new Promise((resolve) => setImmediate(resolve))
  if (how === 3) await turns(2 + below(3))
}

async function stateOf(spaces) {
  const state = new Map()
  for (const [index, space] of spaces.entries()) {
    for await (const [key, value] of space.iterator()) state.set(index + key, value)
  }
  return state
}

/** A random read or write of the transaction, recorded in the event. */
async function act(tx, spaces, event, name) {
  const index = below(2)
  const key = KEYS[below(KEYS.length)]
  const options = { sublevel: spaces[index] }

  if (below(3) === 0) {
    const [gte, lte] = [key, KEYS[below(KEYS.length)]].sort()
    const reverse = below(2) === 0
    const limit = below(2) === 0 ? 2 : -1
    const writes = [...event.writes]
    const found = await tx.iterator({ gte, lte, reverse, limit, ...options }).all()
    event.reads.push({ read: (state) => range(state, writes, { index, gte, lte, reverse, limit }), found })
  } else if (below(2) === 0) {
    const writes = [...event.writes]
    const found = await tx.get(key, options)
    event.reads.push({ read: (state) => withWrites(state, writes).get(index + key), found })
  } else if (below(4) === 0) {
    tx.del(key, options)
    event.writes.push({ type: 'del', key: index + key })
  } else {
    const value = `${name} ${event.writes.length}`
    tx.put(key, value, options)
    event.writes.push({ type: 'put', key: index + key, value })
  }
}

function withWrites(state, writes) {
  const all = new Map(state)
  for (const { type, key, value } of writes) {
    if (type === 'put') all.set(key, value)
    else all.delete(key)
  }
  return all
}

function range(state, writes, { index, gte, lte, reverse, limit }) {
  const entries = entriesOf(withWrites(state, writes))
    .filter(([key]) => key >= index + gte && key <= index + lte)
    .map(([key, value]) => [key.slice(1), value])
  if (reverse) entries.reverse()
  return limit < 0 ? entries : entries.slice(0, limit)
}

/** Runs a transaction of a few reads and writes. Returns what happened in the attempt that committed. */
async function randomTransaction(transaction, spaces, name) {
  let event
  await dawdle()
  await transaction(
    async (tx) => {
      event = { reads: [], writes: [] }
      for (let i = 2 + below(4); i > 0; i--) {
        await act(tx, spaces, event, name)
        await dawdle()
      }
    },
    { sync: below(4) === 0, retries: 100 }
  )
  return event
}

/** A put, del or batch outside transactions. */
async function plainWrite(db, spaces, name) {
  await dawdle()
  const writes = []
  const operations = []

  for (let i = 1 + below(2); i > 0; i--) {
    const index = below(2)
    const key = KEYS[below(KEYS.length)]
    const value = `plain ${name} ${i}`
    const type = below(3) === 0 ? 'del' : 'put'
    writes.push({ type, key: index + key, value })
    operations.push({ type, key, value, sublevel: spaces[index] })
  }

  const [{ type, key, value, sublevel }] = operations
  const options = { sync: below(3) === 0 }
  if (operations.length > 1) await db.batch(operations, options)
  else if (type === 'put') await sublevel.put(key, value, options)
  else await sublevel.del(key, options)
  return { reads: [], writes }
}

/** Runs everything at once. Fails if no order explains what was read and the final state. */
async function round(db, spaces, transaction, plainWrites) {
  const before = await stateOf(spaces)
  const events = await inOrderOfEnd([
    ...Array.from({ length: TRANSACTIONS }, (_, i) => randomTransaction(transaction, spaces, i)),
    ...Array.from({ length: plainWrites }, (_, i) => plainWrite(db, spaces, i))
  ])
  const order = serialOrder(events, before, await stateOf(spaces))
  assert.ok(order !== undefined, 'there is a serial order')
}

test('the checker finds an order, and finds that there is none', () => {
  const get = (key, found) => ({ read: (state) => state.get(key), found })
  const put = (key, value) => ({ type: 'put', key, value })
  const state = (...entries) => new Map(entries)
  const events = [
    { reads: [get('a', '2')], writes: [put('b', '2')] },
    { reads: [], writes: [put('a', '2')] }
  ]
  assert.deepEqual(serialOrder(events, state(['a', '1']), state(['a', '2'], ['b', '2'])), [1, 0])
  assert.equal(serialOrder(events, state(['a', '1']), state(['a', '2'])), undefined)

  const skew = [
    { reads: [get('a', '1'), get('b', '1')], writes: [put('a', '0')] },
    { reads: [get('a', '1'), get('b', '1')], writes: [put('b', '0')] }
  ]
  assert.equal(serialOrder(skew, state(['a', '1'], ['b', '1']), state(['a', '0'], ['b', '0'])), undefined)
})

for (const [name, open] of Object.entries(databases)) {
  // classic-level does not preserve the order of concurrent writes, so plain writes are omitted there.
  const plainWrites = name === 'classic-level' ? 0 : PLAIN_WRITES

  test(`${name}: ${ROUNDS} histories at random have a serial order`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const spaces = spacesOf(db)
    for (let i = 0; i < ROUNDS; i++) await round(db, spaces, transaction, plainWrites)
  })

  test(`${name}: money moves between accounts, and is always all there`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const transaction = transactions(db, { retries: 100 })
    const accounts = db.sublevel('accounts', { valueEncoding: 'json' })
    const names = Array.from({ length: 10 }, (_, i) => `account ${i}`)
    await accounts.batch(names.map((key) => ({ type: 'put', key, value: 100 })))
    const sum = (values) => values.reduce((total, value) => total + value, 0)

    async function clerk(number) {
      for (let i = 0; i < scaled(30, 10); i++) {
        const [from, to] = [names[below(10)], names[below(10)]]
        await transaction(
          async (tx) => {
            const balance = await tx.get(from, { sublevel: accounts })
            if (balance < 10 || from === to) return
            tx.put(from, balance - 10, { sublevel: accounts })
            tx.put(to, (await tx.get(to, { sublevel: accounts })) + 10, { sublevel: accounts })
            tx.put(`receipt ${number} ${i}`, { from, to })
            assert.equal(sum(await tx.values({ sublevel: accounts }).all()), 1000)
          },
          { sync: below(8) === 0 }
        )
      }
    }

    async function auditor() {
      for (let i = 0; i < 30; i++) {
        assert.equal(sum(await transaction((tx) => tx.values({ sublevel: accounts }).all())), 1000)
        await db.put('audit', i)
        await dawdle()
      }
    }

    await Promise.all([...Array.from({ length: 16 }, (_, i) => clerk(i)), auditor()])
    assert.equal(sum(await accounts.values().all()), 1000)
  })
}
