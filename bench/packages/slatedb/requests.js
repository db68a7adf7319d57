// How many requests operations cost, counted at an S3 server: `node bench/packages/slatedb/requests.js`. Prints a table. It needs moto
// (scripts/setup tests).

import { setTimeout } from 'node:timers/promises'
import { SlateLevel } from 'terrace-slatedb'
import { missing, Store } from '../../../packages/back-ends/slatedb/test/support/store.js'

if (missing !== undefined) {
  console.error(missing)
  process.exit(1)
}

const store = await Store.start()
const value = 'x'.repeat(100)
const keyAt = (i) => `k${String(i).padStart(8, '0')}`
const entries = (from, count) =>
  Array.from({ length: count }, (_, i) => ({ type: 'put', key: keyAt(from + i), value }))
const rows = []

/** Runs something and notes the requests of each time. */
async function count(name, times, run) {
  store.proxy.take()
  for (let i = 0; i < times; i++) await run(i)
  note(name, times)
}

function note(name, times) {
  const sums = { PUT: 0, LIST: 0, GET: 0, HEAD: 0, DELETE: 0 }
  for (const [request, number] of Object.entries(store.proxy.take())) sums[request.split(' ')[0]] += number
  const each = Object.fromEntries(Object.entries(sums).map(([kind, sum]) => [kind, sum / times]))
  rows.push({ name, ...each, GET: each.GET + each.HEAD })
}

const location = store.location()
// Background work is counted apart.
const quiet = { ...store.options, pollIntervalMs: 100_000 }
const open = async (options) => {
  const db = new SlateLevel(location, { ...quiet, ...options })
  await db.open()
  return db
}

store.proxy.take()
let db = await open()
note('open, a new database', 1)
await setTimeout(1500)
await count('put, awaited', 5, (i) => db.put(keyAt(i), value))
await count('100 puts at once', 5, (i) =>
  Promise.all(entries(i * 100, 100).map(({ key }) => db.put(key, value)))
)
await count('put with `sync`', 20, (i) => db.put(keyAt(i), value, { sync: true }))
await count('batch of 1,000', 5, (i) => db.batch(entries(i * 1000, 1000)))
await count('get of an entry written since the open', 20, (i) => db.get(keyAt(i)))
for (let i = 0; i < 60; i++) await db.batch(entries(i * 1000, 1000))
await count('close', 1, () => db.close())

await count('open, after a close', 1, async () => {
  db = await open()
})
await setTimeout(1500)
await count('get, first in a table', 1, () => db.get(keyAt(30_000)))
await count('get, cold', 20, (i) => db.get(keyAt(i * 2999)))
await count('get, warm', 20, (i) => db.get(keyAt(i * 2999)))
await count('get of an absent key', 20, (i) => db.get(`${keyAt(i * 2999)}?`))
await count('range of 10, cold', 20, (i) => db.iterator({ gte: keyAt(i * 2903 + 777), limit: 10 }).all())
await count('range of 10, warm', 20, (i) => db.iterator({ gte: keyAt(i * 2903 + 777), limit: 10 }).all())
await count('range of 10 backwards, cold', 20, (i) =>
  db.iterator({ lt: keyAt(i * 2801 + 1555), limit: 10, reverse: true }).all()
)
await db.close()
db = await open()
await setTimeout(1500)
await count('all 60,000 entries, 7 MB', 1, () => db.keys().all())
await db.close()

const log = await open({ acknowledge: 'memory', flushIntervalMs: 30_000 })
for (let i = 0; i < 50; i++) await log.put(keyAt(i), value, { sync: true })
await count('open, after a kill with 50 files in the log', 1, async () => {
  db = await open()
})
await log.close().catch(() => log.close())
await setTimeout(1500)
store.proxy.take()
let reader
await count('open, to read', 1, async () => {
  reader = new SlateLevel(location, { ...quiet, readOnly: true, refreshIntervalMs: 1_000_000 })
  await reader.open()
})
await count('refresh, nothing new', 5, () => reader.refresh())
await db.put('a', value)
await count('refresh, one write', 1, () => reader.refresh())
await count('close, of a reader', 1, () => reader.close())
await db.close()

db = await open({ pollIntervalMs: 5000 })
await setTimeout(5500)
store.proxy.take()
await setTimeout(60_000)
note('a minute without operations', 1)
reader = new SlateLevel(location, { ...quiet, readOnly: true })
await db.close()
await reader.open()
await setTimeout(2000)
store.proxy.take()
await setTimeout(60_000)
note('a minute without operations, of a reader', 1)
await reader.close()
store.stop()

const shown = (number) => (number === 0 ? '' : Number.isInteger(number) ? `${number}` : number.toFixed(2))
console.log('| | PUT | LIST | GET, HEAD |\n|---|---:|---:|---:|')
for (const { name, PUT, LIST, GET } of rows) {
  console.log(`| ${name} | ${shown(PUT)} | ${shown(LIST)} | ${shown(GET)} |`)
}
