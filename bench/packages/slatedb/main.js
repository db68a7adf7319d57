// What SlateLevel costs beside SlateDB itself, in memory, without waiting for a store: `node bench/packages/slatedb/main.js [ROUNDS]`.
// Prints the least of the rounds, which take turns, in microseconds per operation. `node bench/packages/slatedb/requests.js` counts the
// requests to a store.

import { DbBuilder, ObjectStore, WriteBatch } from '@slatedb/uniffi'
import { SlateLevel } from 'terrace-slatedb'
import { compare, entriesFor, times } from '../../back-ends/beside.js'

const ROUNDS = Number(process.argv[2] ?? 5)
const KEYS = 1000
const READS = 3000
const RANGES = 500
const PUTS = 500

const db = new SlateLevel('memory:///', {
  keyEncoding: 'buffer',
  valueEncoding: 'buffer',
  acknowledge: 'memory'
})
await db.open()
const raw = await new DbBuilder('', ObjectStore.resolve('memory:///')).build()

const { value, keys, operations, keyAt } = entriesFor(KEYS)
const put = { ttl: { tag: 'Default' } }
const inMemory = { await_durable: false }

async function rawBatch() {
  const batch = new WriteBatch()
  for (const key of keys) batch.put(key, value)
  await raw.write_with_options(batch, inMemory)
}

async function rawRange(start, limit, order = 'Ascending') {
  const range = { start, start_inclusive: true, end: undefined, end_inclusive: false }
  const options = { durability_filter: 'Memory', dirty: false, read_ahead_bytes: 65_536 }
  Object.assign(options, { cache_blocks: true, max_fetch_tasks: 1, order })
  const iterator = await raw.scan_with_options(range, options)
  const rows = []
  for (let row = await iterator.next(); row !== undefined && rows.push(row) < limit; )
    row = await iterator.next()
  return rows
}

const cases = {
  'put, awaited, acknowledged in memory': {
    level: times(PUTS, (i) => db.put(keyAt(i), value)),
    raw: times(PUTS, (i) => raw.put_with_options(keyAt(i), value, put, inMemory))
  },
  'put, 1,000 at once': {
    level: { count: KEYS, run: () => Promise.all(keys.map((key) => db.put(key, value))) },
    raw: {
      count: KEYS,
      run: () => Promise.all(keys.map((key) => raw.put_with_options(key, value, put, inMemory)))
    }
  },
  'batch of 1,000, an operation': {
    level: { count: KEYS, run: () => db.batch(operations) },
    raw: { count: KEYS, run: rawBatch }
  },
  'get, awaited': {
    level: times(READS, (i) => db.get(keyAt(i))),
    raw: times(READS, (i) => raw.get(keyAt(i)))
  },
  'range of 10': {
    level: times(RANGES, (i) => db.iterator({ gte: keyAt(i), limit: 10 }).all()),
    raw: times(RANGES, (i) => rawRange(keyAt(i), 10))
  },
  'all 1,000 entries, per entry': {
    level: { count: KEYS, run: () => db.iterator().all() },
    raw: { count: KEYS, run: () => rawRange(keys[0], KEYS) }
  },
  'all 1,000 entries backwards, per entry': {
    level: { count: KEYS, run: () => db.iterator({ reverse: true }).all() },
    raw: { count: KEYS, run: () => rawRange(keys[0], KEYS, 'Descending') }
  }
}

await db.batch(operations)
await rawBatch()
await compare(cases, { rounds: ROUNDS, names: ['SlateLevel', '@slatedb/uniffi'] })

await db.close()
await raw.shutdown()
