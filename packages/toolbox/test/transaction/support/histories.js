// Histories at random: transactions and plain writes at the same time, by one or several instances of a database.

import assert from 'node:assert/strict'
import { bytewise } from 'terrace-bytewise'
import { turns } from '../../../../../tests/support/waiting.mjs'
import { entriesOf, inOrderOfEnd, serialOrder } from './serial-order.js'

const KEYS = ['a', 'b', 'c', 'd', 'e']
const TRANSACTIONS = 8
const PLAIN_WRITES = 4

/** Two key spaces with different encodings. In histories, their keys begin with 0 and 1. */
export const spacesOf = (db) => [
  db.sublevel('texts', { valueEncoding: 'utf8' }),
  db.sublevel(['tuples', 'deep'], { keyEncoding: bytewise, valueEncoding: 'json' })
]

export const below = (count) => Math.floor(Math.random() * count)

/** Lets others have a turn, for a random time. */
export async function dawdle() {
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

/**
 * Runs everything at once, on instances of one database in turn. Fails if no order explains what was read and the final state.
 *
 * @param instances - `{ db, spaces, transaction }` of each.
 */
export async function round(instances, plainWrites = PLAIN_WRITES) {
  const [{ spaces }] = instances
  const of = (index) => instances[index % instances.length]
  const before = await stateOf(spaces)
  const events = await inOrderOfEnd([
    ...Array.from({ length: TRANSACTIONS }, (_, i) => randomTransaction(of(i).transaction, of(i).spaces, i)),
    ...Array.from({ length: plainWrites }, (_, i) => plainWrite(of(i).db, of(i).spaces, i))
  ])
  const order = serialOrder(events, before, await stateOf(spaces))
  assert.ok(order !== undefined, 'there is a serial order')
}
