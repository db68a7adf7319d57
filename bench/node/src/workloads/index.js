/** The workloads by name, with the defaults of each. */

import { calls } from './calls.js'
import { clear } from './clear.js'
import { coldRead } from './cold-read.js'
import { mixed } from './mixed.js'
import { open } from './open.js'
import { plainLoop } from './plain-loop.js'
import { batchPut, get, getMany, iterate, put } from './simple.js'
import { sortedWrite } from './sorted-write.js'
import { databases, sublevels } from './stores.js'
import { sustained } from './sustained.js'
import { table } from './table.js'

/**
 * @typedef {object} Workload
 * @property {string} summary
 * @property {(context: import('../context.js').Context) => Promise<object | void>} run returns what the results contain besides
 * lines
 * @property {Partial<import('../settings.js').Settings>} [defaults]
 * @property {number} [rounds]
 */

/** @type {Record<string, Workload>} */
export const WORKLOADS = {
  put: { summary: 'put entries one by one', run: put },
  'batch-put': { summary: 'write entries in batches', run: batchPut, defaults: { concurrency: 1 } },
  get: { summary: 'get entries by key, after loading them', run: get },
  'get-many': {
    summary: 'get entries, --batch-size keys in each call',
    run: getMany,
    defaults: { batchSize: 100, concurrency: 1 }
  },
  iterate: { summary: 'read all entries with for await', run: iterate },
  clear: { summary: 'load entries, then clear the database', run: clear },
  mixed: { summary: 'gets and puts, --read-percent of them gets', run: mixed },
  'sorted-write': {
    summary: 'write in batches and record the time of each; with --key-order random a random write',
    run: sortedWrite,
    defaults: { n: 10_000_000, keyOrder: 'sorted', concurrency: 1 },
    rounds: 1
  },
  sustained: {
    summary: 'write without pause for --seconds, as 64 clients would, to see how the event loop is delayed',
    run: sustained,
    defaults: { concurrency: 64, batchSize: 1 },
    rounds: 1
  },
  'cold-read': {
    summary: 'read what is on the disk and not in memory for --seconds, with gets and windows of an iterator',
    run: coldRead,
    defaults: { concurrency: 64, batchSize: 20, valueSize: 1000, readPercent: 100 },
    rounds: 1
  },
  'plain-loop': {
    summary: 'await puts, gets and steps of for await for --seconds, one after the other and nothing else',
    run: plainLoop,
    defaults: { concurrency: 1, yieldTurns: false },
    rounds: 1
  },
  calls: {
    summary: 'the calls that programs make most, each for --seconds at most: for databases of all kinds',
    run: calls,
    defaults: { n: 100_000, seconds: 2 }
  },
  databases: {
    summary: 'write and read entries in --stores databases, and reopen them',
    run: databases
  },
  sublevels: { summary: 'the same with --stores sublevels of one database', run: sublevels },
  open: {
    summary: 'create and open databases, empty, small, killed and of --tables tables, and --stores at once',
    run: open,
    // Whatever is created is durable when the call returns, in every database.
    defaults: { n: 1000, stores: 1000, sync: true },
    rounds: 3
  },
  table: {
    summary: 'what each kind of operation costs, in µs: some thirty lines',
    run: table,
    defaults: { n: 300_000 }
  }
}

/** With random keys, 10 million would take too long in most databases. */
export const RANDOM_WRITES = 3_000_000
