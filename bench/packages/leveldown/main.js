// What calls of terrace-leveldown cost, beside leveldown, and in memory beside memdown:
//
//   node bench/packages/leveldown/main.js [--rounds 15] [--entries 20000] [--results FILE]
//
// Prints tables. Each round does each workload on each database, in an order that rotates, all in this process; times are medians
// of the rounds, ratios medians of the ratios within each round. Processor time is that of all threads of this process. Values
// compress to half, as in db_bench: if they were all alike, tables would be tiny, and Terrace would write no hash index into them.
//
// --results appends the times of each round to a file, as a line of JSON for each workload on each database.

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commit, machine } from '../../../scripts/machine.mjs'
import { Entries } from '../../node/src/entries.js'
import { median } from '../../node/src/statistics.js'

const require = createRequire(import.meta.url)

const { values: args } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    entries: { type: 'string', default: '20000' },
    results: { type: 'string' }
  }
})
const rounds = Number(args.rounds)
const entries = Number(args.entries)
const BATCH = 100
const RANGE = 10

const here = { date: new Date().toISOString(), commit: commit(), load: loadavg()[0], ...machine('.') }

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

const made = new Entries({
  valueSize: 100,
  compressiblePercent: 50,
  keyEncoding: 'utf8',
  valueEncoding: 'buffer',
  seed: 1
})
const values = Array.from({ length: entries }, (_, i) => made.value(i))
/** Keys in random order: the step and the number of entries have no common factor. */
const keys = values.map((_, i) => made.key((i * 7919) % entries))
const operations = values.map((value, i) => ({ type: 'put', key: keys[i], value }))

const operationsAt = (i) => operations.slice(i * BATCH, (i + 1) * BATCH)

function chainedAt(db, i) {
  const batch = db.batch()
  for (const { key, value } of operationsAt(i)) batch.put(key, value)
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
  'get, from tables': (db) => inChains(entries, 1, (i, done) => db.get(keys[i], done)),
  'get, from tables, 64 at once': (db) => inChains(entries, 64, (i, done) => db.get(keys[i], done)),
  'get of an absent key': (db) => inChains(entries, 1, (i, done) => db.get(`absent${i}`, () => done())),
  'iterator, per entry': whole({}),
  'iterator of strings, per entry': whole({ keyAsBuffer: false, valueAsBuffer: false }),
  'for await, per entry': async (db) => {
    for await (const _ of db.iterator());
  },
  'range of 10, per entry': (db) =>
    inChains(entries / RANGE, 1, (i, done) => readAll(db.iterator({ gte: keys[i], limit: RANGE }), done)),
  put: (db) => inChains(entries, 1, (i, done) => db.put(keys[i], values[i], done)),
  'put, 64 at once': (db) => inChains(entries, 64, (i, done) => db.put(keys[i], values[i], done)),
  'get, just written': (db) => inChains(entries, 1, (i, done) => db.get(keys[i], done)),
  'get, just written, 64 at once': (db) => inChains(entries, 64, (i, done) => db.get(keys[i], done)),
  'del of an absent key': (db) => inChains(entries, 1, (i, done) => db.del(`absent${i}`, done)),
  'batch of one': (db) => inChains(entries, 1, (i, done) => db.batch([operations[i]], done)),
  'batch of 100, per entry': (db) =>
    inChains(entries / BATCH, 1, (i, done) => db.batch(operationsAt(i), done)),
  'chained batch of 100, per entry': (db) =>
    inChains(entries / BATCH, 1, (i, done) => chainedAt(db, i).write(done))
}

for (const [kind, makers] of Object.entries(PAIRS)) {
  const databases = Object.entries(makers).map(([name, make]) => ({
    name,
    db: make(),
    times: {},
    processor: {}
  }))
  for (const { db } of databases) {
    await inChains(1, 1, (_, done) => db.open(done))
    await WORKLOADS['put, 64 at once'](db)
  }

  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? databases : databases.toReversed()
    // So that no work of the last round goes on in the background of the reads.
    for (const { db } of databases) {
      await inChains(1, 1, (_, done) =>
        db.compactRange === undefined ? done() : db.compactRange('\x00', '\xff', done)
      )
    }
    for (const [workload, work] of Object.entries(WORKLOADS)) {
      for (const { db, times, processor } of order) {
        const used = process.cpuUsage()
        const began = performance.now()
        await work(db)
        const microseconds = (performance.now() - began) * 1000
        const { user, system } = process.cpuUsage(used)
        times[workload] ??= []
        times[workload].push(microseconds / entries)
        processor[workload] ??= []
        processor[workload].push((user + system) / entries)
      }
    }
  }

  const [ours, theirs] = databases
  console.log(
    `| ${kind}: µs | ${ours.name} | ${theirs.name} | times as fast | processor time: ${ours.name} | ${theirs.name} |\n` +
      '|---|---:|---:|---:|---:|---:|'
  )
  for (const workload of Object.keys(WORKLOADS)) {
    const [own, other] = [ours.times[workload], theirs.times[workload]]
    const ratio = median(own.map((time, i) => other[i] / time))
    const [ownUsed, otherUsed] = databases.map(({ processor }) => median(processor[workload]).toFixed(2))
    console.log(
      `| ${workload} | ${median(own).toFixed(2)} | ${median(other).toFixed(2)} | ${ratio.toFixed(1)} | ${ownUsed} | ${otherUsed} |`
    )
  }
  console.log()
  if (args.results !== undefined) append(args.results, kind, databases)
  for (const { db } of databases) await inChains(1, 1, (_, done) => db.close(done))
}

console.log(
  `${here.cpu}, ${here.cores} cores, Node ${here.node}, at ${here.commit ?? 'no commit'}. ${rounds} rounds of ${entries} entries. ` +
    `Load of the machine: ${here.load.toFixed(1)} at the beginning, ${loadavg()[0].toFixed(1)} at the end.`
)

/** Adds the times of all rounds, in µs per entry or call, to a file. */
function append(file, kind, databases) {
  for (const { name: database, times, processor } of databases) {
    for (const workload of Object.keys(WORKLOADS)) {
      const measured = {
        kind,
        database,
        workload,
        entries,
        times: times[workload],
        processor: processor[workload]
      }
      appendFileSync(file, `${JSON.stringify({ ...measured, ...here })}\n`)
    }
  }
}
