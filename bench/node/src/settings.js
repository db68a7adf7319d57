/** The settings of a run. */

/**
 * @typedef {object} Settings
 * @property {number} n entries or operations
 * @property {number} concurrency operations running at once
 * @property {number} batchSize operations in a batch, keys in a getMany, or entries in a window of `cold-read`
 * @property {number} valueSize in bytes
 * @property {number} compressiblePercent how much of each value repeats what comes before it
 * @property {'sorted' | 'random'} keyOrder
 * @property {'uniform' | 'zipfian'} keyDistribution
 * @property {string} keyEncoding
 * @property {string} valueEncoding
 * @property {boolean} sync every write reaches the disk before it counts
 * @property {boolean} compacted the loaded entries are compacted before anything else, if a database can
 * @property {object} readOptions of gets and iterators in `get` and `iterate`
 * @property {number} stores databases or sublevels in `databases` and `sublevels`, databases open at once in `open`
 * @property {number} tables of the large database of `open`
 * @property {number} repeats how often `open` opens each database in a round
 * @property {number} seed
 * @property {number} seconds how long `sustained`, `cold-read` and `plain-loop` run
 * @property {number} readPercent reads in 100 operations of `mixed` and `cold-read`
 * @property {boolean} yieldTurns a client of `sustained` or `cold-read` continues in the next turn of the event
 * loop
 */

/** @type {Settings} */
export const DEFAULTS = {
  n: 1_000_000,
  concurrency: 4,
  batchSize: 1000,
  valueSize: 100,
  compressiblePercent: 0,
  keyOrder: 'random',
  keyDistribution: 'uniform',
  keyEncoding: 'utf8',
  valueEncoding: 'utf8',
  sync: false,
  compacted: false,
  readOptions: {},
  stores: 10,
  tables: 10_000,
  repeats: 20,
  seed: 1000,
  seconds: 10,
  readPercent: 50,
  yieldTurns: true
}
