// A client that performs every operation over and over, including rejected and interrupted ones: `node soak-client.js ADDRESS OPERATIONS
// ENTRIES SAMPLES`. Reports its progress to its parent, and waits for the reply before it continues.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { NetLevel } from 'terrace-net'
import { Ask } from '../../../packages/net/dist/protocol/messages.js'
import { greetedClient, rawClient } from '../../../packages/net/test/support/raw-client.js'
import { check, keyOf, put, randoms, valueFor } from './entries.js'

const [address, ...numbers] = process.argv.slice(2)
const [operations, entries, samples] = numbers.map(Number)
const AT_ONCE = 64
const random = randoms(5)
const anyKey = () => keyOf(random(entries))

/** Operations with their shares in thousandths. */
const kinds = [
  [
    600,
    (db) => {
      const key = anyKey()
      return db.get(key).then((value) => check(key, value))
    }
  ],
  [
    196,
    (db) => {
      const key = anyKey()
      return db.put(key, valueFor(key))
    }
  ],
  [80, (db) => db.batch(Array.from({ length: 10 }, () => put(anyKey())))],
  [50, (db) => db.iterator({ gte: anyKey(), limit: 20 }).all()],
  [30, (db) => leaveIteratorOpen(db)],
  [20, (db) => readInSnapshot(db)],
  [10, (db) => hearOfOwnWrite(db)],
  [5, (db) => clearRange(db)],
  [4, (db) => db.call('echo', { a: [1, 'b', null] })],
  [2, () => beDenied()],
  [2, () => sendGarbage()],
  [1, () => leaveWithoutGoodbye()]
]

async function hearOfOwnWrite(db) {
  const key = `watched ${random(1000)}`
  const writes = db.watch({ gte: key, lte: key })
  await db.put(key, '')
  await writes.next()
  await writes.return()
}

async function clearRange(db) {
  await db.put('cleared', '')
  await db.clear({ gte: 'cleared', lte: 'cleared' })
}

/** One for all who are refused. */
let stranger

async function beDenied() {
  stranger ??= new NetLevel(address, { token: 'some' })
  await assert.rejects(stranger.put(anyKey(), ''), { code: 'NET_DENIED' })
}

/** A length of zero, after which the server ends the connection. */
async function sendGarbage() {
  const client = await rawClient(address)
  client.write(Buffer.alloc(8))
  await client.closed
}

/** Loses a connection with all that is open in its session. The server keeps it for a while. */
async function leaveWithoutGoodbye() {
  const client = await greetedClient(address, { token: 'all' })
  const everything = [null, null, null, null]
  await client.ask(Ask.snapshot, 1)
  await client.ask(Ask.cursor, 1, everything, false, 3, null)
  await client.ask(Ask.read, 1, 0, 10, 1000)
  await client.ask(Ask.subscribe, 1, null, everything, null)
  await client.close()
}

async function leaveIteratorOpen(db) {
  const iterator = db.iterator({ gte: anyKey() })
  await iterator.next()
  await iterator.close()
}

async function readInSnapshot(db) {
  const snapshot = db.snapshot()
  await db.get(anyKey(), { snapshot })
  await snapshot.close()
}

function operation(db) {
  let point = random(1000)
  for (const [share, run] of kinds) {
    point -= share
    if (point < 0) return run(db)
  }
}

// Each sample is taken with another connection, as clients come and go.
for (let sample = 1; sample <= samples; sample++) {
  const db = new NetLevel(address, { token: 'all' })
  await db.open()
  let started = 0
  const worker = async () => {
    while (started++ < operations / samples) await operation(db)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await db.close()
  await stranger?.close()
  stranger = undefined
  process.send({ done: Math.round((operations / samples) * sample) })
  await once(process, 'message')
}
process.disconnect()
