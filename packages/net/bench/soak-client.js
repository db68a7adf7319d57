// A client that does everything, over and over: `node soak-client.js ADDRESS OPERATIONS ENTRIES SAMPLES`. Tells its parent how far it
// is, and waits for its word before it goes on.

import { once } from 'node:events'
import { NetLevel } from 'terrace-net'
import { check, keyOf, put, randoms, valueFor } from './entries.js'

const [address, ...numbers] = process.argv.slice(2)
const [operations, entries, samples] = numbers.map(Number)
const AT_ONCE = 64
const random = randoms(5)
const anyKey = () => keyOf(random(entries))

/** Operations with their shares in percent. */
const kinds = [
  [
    60,
    (db) => {
      const key = anyKey()
      return db.get(key).then((value) => check(key, value))
    }
  ],
  [
    20,
    (db) => {
      const key = anyKey()
      return db.put(key, valueFor(key))
    }
  ],
  [8, (db) => db.batch(Array.from({ length: 10 }, () => put(anyKey())))],
  [5, (db) => db.iterator({ gte: anyKey(), limit: 20 }).all()],
  [4, (db) => leaveIteratorOpen(db)],
  [3, (db) => readInSnapshot(db)]
]

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
  let point = random(100)
  for (const [share, run] of kinds) {
    point -= share
    if (point < 0) return run(db)
  }
}

// Each sample is taken with another connection, as clients come and go.
for (let sample = 1; sample <= samples; sample++) {
  const db = new NetLevel(address)
  await db.open()
  let started = 0
  const worker = async () => {
    while (started++ < operations / samples) await operation(db)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await db.close()
  process.send({ done: Math.round((operations / samples) * sample) })
  await once(process, 'message')
}
process.disconnect()
