// What calls of terrace-leveldown cost, beside leveldown, and in memory beside memdown:
//
//   node bench/packages/leveldown/main.js [--rounds 15] [--entries 20000]
//
// Prints a table. Each round does each workload on each database, in an order that rotates, all in this process; times are medians
// of the rounds, ratios medians of the ratios within each round.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median } from '../../node/src/statistics.js'

const require = createRequire(import.meta.url)

const { values: args } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, entries: { type: 'string', default: '20000' } }
})
const rounds = Number(args.rounds)
const entries = Number(args.entries)
const BATCH = 100
const RANGE = 10

const directory = mkdtempSync(join(tmpdir(), 'terrace-leveldown-bench-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))

/** Pairs to compare: ours, and what it replaces. */
const PAIRS = {
  disk: {
    'terrace-leveldown': () => require('terrace-leveldown')(join(directory, 'terrace')),
    leveldown: () => require('leveldown')(join(directory, 'leveldown'))
  },
  memory: {
    'terrace-leveldown/memory': () => require('terrace-leveldown/memory')(),
    memdown: () => require('memdown')()
  }
}

const value = Buffer.alloc(100, 'x')
/** Keys in random order: the step and the number of entries have no common factor. */
const keyAt = (i) => `key${String((i * 7919) % entries).padStart(13, '0')}`

const operationsAt = (i) =>
  Array.from({ length: BATCH }, (_, k) => ({ type: 'put', key: keyAt(i * BATCH + k), value }))

function chainedAt(db, i) {
  const batch = db.batch()
  for (let k = 0; k < BATCH; k++) batch.put(keyAt(i * BATCH + k), value)
  return batch
}

/** Calls in chains: each callback makes the next call. */
function inChains(count, chains, work) {
  return new Promise((resolve, reject) => {
    let begun = 0
    let done = 0
    const begin = () => {
      if (begun < count) work(begun++, end)
    }
    const end = (error) => {
      if (error) reject(error)
      else if (++done === count) resolve()
      else begin()
    }
    for (let i = 0; i < chains; i++) begin()
  })
}

/** Reads an iterator to its end with callbacks. */
function readAll(iterator, callback) {
  const next = (error, key) => {
    if (error) callback(error)
    else if (key === undefined) iterator.end(callback)
    else iterator.next(next)
  }
  iterator.next(next)
}

const whole = (options) => (db) => inChains(1, 1, (_, done) => readAll(db.iterator(options), done))

/** What is measured, per entry or call. */
const WORKLOADS = {
  'get, from tables': (db) => inChains(entries, 1, (i, done) => db.get(keyAt(i), done)),
  'get, from tables, 64 at once': (db) => inChains(entries, 64, (i, done) => db.get(keyAt(i), done)),
  'get of an absent key': (db) => inChains(entries, 1, (i, done) => db.get(`absent${i}`, () => done())),
  'iterator, per entry': whole({}),
  'iterator of strings, per entry': whole({ keyAsBuffer: false, valueAsBuffer: false }),
  'for await, per entry': async (db) => {
    for await (const _ of db.iterator());
  },
  'range of 10, per entry': (db) =>
    inChains(entries / RANGE, 1, (i, done) => readAll(db.iterator({ gte: keyAt(i), limit: RANGE }), done)),
  put: (db) => inChains(entries, 1, (i, done) => db.put(keyAt(i), value, done)),
  'put, 64 at once': (db) => inChains(entries, 64, (i, done) => db.put(keyAt(i), value, done)),
  'get, just written': (db) => inChains(entries, 1, (i, done) => db.get(keyAt(i), done)),
  'get, just written, 64 at once': (db) => inChains(entries, 64, (i, done) => db.get(keyAt(i), done)),
  'del of an absent key': (db) => inChains(entries, 1, (i, done) => db.del(`absent${i}`, done)),
  'batch of one': (db) =>
    inChains(entries, 1, (i, done) => db.batch([{ type: 'put', key: keyAt(i), value }], done)),
  'batch of 100, per entry': (db) =>
    inChains(entries / BATCH, 1, (i, done) => db.batch(operationsAt(i), done)),
  'chained batch of 100, per entry': (db) =>
    inChains(entries / BATCH, 1, (i, done) => chainedAt(db, i).write(done))
}

for (const [kind, makers] of Object.entries(PAIRS)) {
  const databases = Object.entries(makers).map(([name, make]) => ({ name, db: make(), times: {} }))
  for (const { db } of databases) {
    await inChains(1, 1, (_, done) => db.open(done))
    await WORKLOADS['put, 64 at once'](db)
  }

  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? databases : databases.toReversed()
    // So that no work of the last round goes on in the background of the reads.
    for (const { db } of databases) {
      await inChains(1, 1, (_, done) =>
        db.compactRange === undefined ? done() : db.compactRange('a', 'z', done)
      )
    }
    for (const [workload, work] of Object.entries(WORKLOADS)) {
      for (const { db, times } of order) {
        const began = performance.now()
        await work(db)
        times[workload] ??= []
        times[workload].push(((performance.now() - began) * 1000) / entries)
      }
    }
  }

  const [ours, theirs] = databases
  console.log(`| ${kind}: µs | ${ours.name} | ${theirs.name} | times as fast |\n|---|---:|---:|---:|`)
  for (const workload of Object.keys(WORKLOADS)) {
    const [own, other] = [ours.times[workload], theirs.times[workload]]
    const ratio = median(own.map((time, i) => other[i] / time))
    console.log(
      `| ${workload} | ${median(own).toFixed(2)} | ${median(other).toFixed(2)} | ${ratio.toFixed(1)} |`
    )
  }
  console.log()
  for (const { db } of databases) await inChains(1, 1, (_, done) => db.close(done))
}
