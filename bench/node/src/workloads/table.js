/** A table of many lines, one for the cost of each kind of operation. Lines that a target has no method for are left out. */

import { inChunks } from '../loops.js'
import { verify, Written } from '../verify.js'
import { recordGetMany, recordGets, recordRanges, recordScan } from './reads.js'
import { openLoaded, recordWrites } from './writes.js'

const BATCH = 1000
const KEYS = 100
const RANGE = 100
const CONCURRENCIES = [1, 4, 64]
/** Each write waits for the disk, so there are fewer of them: one in this many, depending on the concurrency. */
const SYNC_SHARE = [
  [1, 100],
  [64, 10]
]

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../session.js').Session} Session */

/** @param {Context} context */
export async function table(context) {
  const steps = [
    batches,
    puts,
    syncPuts,
    readLines,
    sublevels,
    ...['buffer', 'view'].map(encodedLines),
    blockingWrites
  ]
  const whole = context.progress
  for (const [done, step] of steps.entries()) {
    context.progress = (share) => whole((done + share) / steps.length)
    await step(context)
  }
  context.progress = whole
}

/** @param {Context} context */
async function batches(context) {
  for (const order of /** @type {const} */ (['sorted', 'random'])) {
    const name = `batch of ${BATCH}, ${order === 'sorted' ? 'sequential' : 'random'}`
    await writeLine(context, name, { order, batchSize: BATCH })
  }
}

/** @param {Context} context */
async function puts(context) {
  for (const concurrency of CONCURRENCIES) {
    await writeLine(context, `put, concurrency ${concurrency}`, { needs: 'put', concurrency })
  }
}

/** @param {Context} context */
async function syncPuts(context) {
  if (context.target.inMemory) return
  for (const [concurrency, share] of SYNC_SHARE) {
    const count = Math.max(1, Math.floor(context.settings.n / share))
    await writeLine(context, `put with sync, concurrency ${concurrency}`, {
      needs: 'put',
      concurrency,
      count,
      sync: true
    })
  }
}

/** @param {Context} context */
async function readLines(context) {
  const { n } = context.settings
  const session = await openLoaded(context, n)
  const indexAt = context.sequence(n, 'random')
  if (session.has('get')) {
    for (const concurrency of CONCURRENCIES) {
      await recordGets(context, session, `get, concurrency ${concurrency}`, {
        count: n,
        indexAt,
        concurrency
      })
    }
  }
  if (session.has('getMany')) {
    await recordGetMany(context, session, `getMany of ${KEYS}, a key`, { count: n, indexAt, size: KEYS })
  }
  if (session.has('getSync')) {
    await recordGets(context, session, 'getSync', { count: n, indexAt, blocking: true })
  }
  if (session.has('iterator')) {
    await recordScan(context, session, 'for await, per entry', n, 'entries')
    await recordScan(context, session, `nextv(${BATCH}), per entry`, n, 'nextv')
    await recordScan(context, session, 'for await in reverse', n, 'reverse')
    await recordScan(context, session, 'for await, keys only', n, 'keys')
    await recordScan(context, session, 'for await, values only', n, 'values')
    await recordRanges(context, session, `range of ${RANGE}, per entry`, { n, size: RANGE, indexAt })
  }
  if (session.has('iterateSync')) {
    const range = { n, size: RANGE, indexAt, blocking: true }
    await recordScan(context, session, 'iterateSync, per entry', n, 'sync')
    await recordRanges(context, session, `iterateSync, range of ${RANGE}, per entry`, range)
  }
  await session.close()
}

/** Two levels deep, where each level adds a prefix. @param {Context} context */
async function sublevels(context) {
  const { n } = context.settings
  const session = await context.open()
  if (session.has('sublevel')) {
    const through = session.db.sublevel('outer').sublevel('inner')
    const written = new Written(n)
    const indexAt = context.sequence(n, 'random')
    const writing = { count: n, indexAt, written, concurrency: 4, through }
    await recordWrites(context, session, 'put through two sublevels, concurrency 4', writing)
    await verify(session.of(through), written)
  }
  await session.close()
}

/** @param {string} encoding */
function encodedLines(encoding) {
  return async (/** @type {Context} */ context) => {
    if (!context.supportsEncoding(encoding)) return
    const { n } = context.settings
    await writeLine(context, `put, ${encoding}, concurrency 4`, { needs: 'put', concurrency: 4, encoding })

    const session = await openLoaded(context, n, { encoding })
    const indexAt = context.sequence(n, 'random')
    if (session.has('get')) {
      await recordGets(context, session, `get, ${encoding}, concurrency 4`, {
        count: n,
        indexAt,
        concurrency: 4
      })
    }
    if (session.has('getSync')) {
      await recordGets(context, session, `getSync, ${encoding}`, { count: n, indexAt, blocking: true })
    }
    if (session.has('iterator')) {
      await recordScan(context, session, `for await, ${encoding}, per entry`, n, 'entries')
    } else {
      await recordScan(context, session, `iterateSync, ${encoding}, per entry`, n, 'sync')
    }
    await session.close()
  }
}

/** @param {Context} context */
async function blockingWrites(context) {
  await writeLine(context, 'putSync', { needs: 'putSync', blocking: true })
  await writeLine(context, `batchSync of ${BATCH}`, { needs: 'batchSync', blocking: true, batchSize: BATCH })
  await deleteLine(context)
}

/** @param {Context} context */
async function deleteLine(context) {
  const { n } = context.settings
  const session = await openLoaded(context, n)
  if (session.has('delSync')) {
    const { db, entries } = session
    const indexAt = context.sequence(n, 'random')
    await context.recorder.record('delSync', async (watch) => {
      await inChunks({ context, entries, count: n, indexAt }, watch, async ({ keys }) => {
        for (const key of keys) db.delSync(key)
      })
      return n
    })
    await verify(session, new Written(n))
  }
  await session.close()
}

/**
 * Writes into an empty database, checks it, and removes it.
 * @param {Context} context
 * @param {string} name
 * @param {{
 *   needs?: string,
 *   order?: 'sorted' | 'random',
 *   count?: number,
 *   concurrency?: number,
 *   batchSize?: number,
 *   blocking?: boolean,
 *   sync?: boolean,
 *   encoding?: string
 * }} options
 */
async function writeLine(context, name, { needs, order = 'random', count, sync, encoding, ...writing }) {
  const { n } = context.settings
  const session = await context.open({ sync: sync ?? false, encoding })
  if (needs === undefined || session.has(needs)) {
    const written = new Written(n)
    const indexAt = context.sequence(n, order)
    await recordWrites(context, session, name, { count: count ?? n, indexAt, written, ...writing })
    await verify(session, written)
  }
  await session.close()
}
