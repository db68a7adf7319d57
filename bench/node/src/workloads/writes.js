/** Writes one entry at a time, or batches. */

import { forEach, inChunks } from '../loops.js'
import { verify, Written } from '../verify.js'

/**
 * @typedef {object} Writing
 * @property {number} count
 * @property {(i: number) => number} indexAt
 * @property {Written} written notes what is written
 * @property {number} [concurrency]
 * @property {number} [batchSize] number of operations in a batch, to write in batches
 * @property {boolean} [blocking] use only synchronous methods
 * @property {any} [through] a sublevel to write through, instead of the database itself
 */

/**
 * Writes entries, and records a line.
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {string} name
 * @param {Writing} writing
 */
export async function recordWrites(context, session, name, writing) {
  await context.recorder.record(name, async (watch) => {
    await writeEntries(context, session, writing, watch)
    return writing.count
  })
}

const LOAD_BATCH = 1000

/** The watch for work that is not measured. */
const NO_WATCH = /** @type {any} */ ({ start() {}, stop() {} })

/**
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {Writing} writing
 */
export async function writeEntries(context, session, writing, watch = NO_WATCH) {
  const { count, indexAt, written, batchSize, concurrency = 1 } = writing
  const { entries } = session
  const write = batchSize === undefined ? putOf(session, writing) : batchOf(session, writing)
  await inChunks({ context, entries, count, indexAt, values: true, batchSize }, watch, async (chunk) => {
    const { indexes, length, batches } = chunk
    for (let i = 0; i < length; i++) written.add(indexes[i])
    await write(chunk, batchSize === undefined ? length : batches.length, concurrency)
  })
}

/**
 * Writes the first `count` entries in order, unmeasured.
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {number} count
 * @param {number} [batchSize]
 */
export async function writeInOrder(context, session, count, batchSize = LOAD_BATCH) {
  const indexAt = context.sequence(count, 'sorted')
  await writeEntries(context, session, { count, indexAt, written: new Written(count), batchSize })
}

/**
 * Opens a database and loads all entries in batches.
 * @param {import('../context.js').Context} context
 * @param {number} n
 * @param {{ encoding?: string, order?: 'sorted' | 'random' }} [options]
 */
export async function openLoaded(context, n, { encoding, order = 'random' } = {}) {
  const session = await context.open({ encoding, sync: false })
  const written = Written.all(n)
  const indexAt = context.sequence(n, order)
  await writeEntries(context, session, { count: n, indexAt, written, batchSize: LOAD_BATCH })
  if (context.settings.compacted && session.has('compactRange')) {
    await session.db.compactRange(session.entries.key(0), session.entries.key(n))
  }
  // This also reads everything once, so that the first line of reads does not pay for that.
  await verify(session, written)
  return session
}

/** @typedef {(chunk: import('../loops.js').Chunk, count: number, concurrency: number) => Promise<void>} WriteChunk */

/**
 * @param {import('../session.js').Session} session
 * @param {Writing} writing
 * @returns {WriteChunk}
 */
function putOf(session, { blocking, through }) {
  const { writeOptions: options } = session
  const db = through ?? session.db
  if (blocking || session.prefer('put', 'putSync') === 'putSync') {
    return async ({ keys, values }, count) => {
      for (let i = 0; i < count; i++) db.putSync(keys[i], values[i])
    }
  }
  return ({ keys, values }, count, concurrency) =>
    forEach(
      count,
      concurrency,
      options === undefined ? (i) => db.put(keys[i], values[i]) : (i) => db.put(keys[i], values[i], options)
    )
}

/**
 * @param {import('../session.js').Session} session
 * @param {Writing} writing
 * @returns {WriteChunk}
 */
function batchOf(session, { blocking }) {
  const { db, writeOptions: options } = session
  if (blocking || session.prefer('batch', 'batchSync') === 'batchSync') {
    return async ({ batches }, count) => {
      for (let i = 0; i < count; i++) db.batchSync(batches[i])
    }
  }
  return ({ batches }, count, concurrency) =>
    forEach(
      count,
      concurrency,
      options === undefined ? (i) => db.batch(batches[i]) : (i) => db.batch(batches[i], options)
    )
}
