/**
 * The calls that programs make most, on databases that may be thousands of times slower than one another: each line ends after
 * `n` entries, or once it has taken --seconds.
 */

import { checkCount, checkKey, checkValue, forEach, inChunks } from '../loops.js'
import { verify, Written } from '../verify.js'
import { recordScan } from './reads.js'
import { openLoaded } from './writes.js'

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../session.js').Session} Session */

const MANY = 1000
const RANGE = 10
/** Calls, or groups of them, before the clock is read for the first time; then twice as many, and so on. */
const FIRST = 8

/** @param {Context} context */
export async function calls(context) {
  await writing(context, 'put, awaited', { concurrency: 1 })
  await writing(context, 'put with sync, awaited', { concurrency: 1, sync: true })
  await writing(context, `put, ${MANY} at once`, { concurrency: MANY })
  await writing(context, `batch of ${MANY}, per entry`, { concurrency: 1, batchSize: MANY })
  await reading(context)
}

/**
 * Writes into an empty database, checks it, and removes it.
 * @param {Context} context
 * @param {string} name
 * @param {{ concurrency: number, batchSize?: number, sync?: boolean }} options
 */
async function writing(context, name, { concurrency, batchSize = 0, sync = false }) {
  const { n } = context.settings
  const session = await context.open({ sync })
  const written = new Written(n)
  const { db, writeOptions, entries } = session
  const indexAt = context.sequence(n, 'random')
  const group = Math.max(concurrency, batchSize)

  await recordUntil(context, name, { indexAt, group, entries, values: true, batchSize }, async (chunk) => {
    const { indexes, keys, values, batches, length } = chunk
    for (let i = 0; i < length; i++) written.add(indexes[i])
    if (batchSize > 0) for (const batch of batches) await db.batch(batch, writeOptions)
    else await forEach(length, concurrency, (i) => db.put(keys[i], values[i], writeOptions))
  })
  await verify(session, written)
  await session.close()
}

/** @param {Context} context */
async function reading(context) {
  const { n } = context.settings
  const session = await openLoaded(context, n)
  const { db, entries } = session
  const indexAt = context.sequence(n, 'random')

  await recordUntil(context, 'get, awaited', { indexAt, entries }, ({ keys, indexes, length }) =>
    forEach(
      length,
      1,
      (i) => db.get(keys[i]),
      (i, value) => checkValue(entries, indexes[i], value, i)
    )
  )
  await recordUntil(context, `range of ${RANGE}`, { indexAt, entries }, async ({ keys, indexes, length }) => {
    for (let i = 0; i < length; i++) {
      const found = await db.iterator({ gte: keys[i], limit: RANGE }).all()
      checkCount(found.length, Math.min(RANGE, n - indexes[i]))
      found.forEach((/** @type {[any, any]} */ [key, value], /** @type {number} */ at) => {
        checkKey(entries, indexes[i] + at, key, at)
        checkValue(entries, indexes[i] + at, value, at)
      })
    }
  })
  await recordScan(context, session, 'scan of all, per entry', n, 'entries')

  await context.recorder.record('clear of all, per entry', async (watch) => {
    watch.start()
    await db.clear()
    watch.stop()
    return n
  })
  await verify(session, new Written(n))
  await session.close()
}

/**
 * Calls `run` with more and more entries until all had their turn or the time is over, and records a line.
 * @param {Context} context
 * @param {string} name
 * @param {{ indexAt: (i: number) => number, entries: import('../entries.js').Entries, group?: number, values?: boolean,
 *   batchSize?: number }} work `group` is how many entries belong together
 * @param {(chunk: import('../loops.js').Chunk) => Promise<void>} run
 */
async function recordUntil(context, name, { indexAt, entries, group = 1, values, batchSize }, run) {
  const { n, seconds } = context.settings
  await context.recorder.record(name, async (watch) => {
    let done = 0
    for (let size = FIRST * group; done < n && watch.seconds < seconds; size *= 2) {
      const from = done
      const count = Math.min(size, n - from)
      const some = { context, entries, count, indexAt: (/** @type {number} */ i) => indexAt(from + i) }
      await inChunks({ ...some, values, batchSize }, watch, run)
      done += count
    }
    return done
  })
}
