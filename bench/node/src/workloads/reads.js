/** Reads by key and in order. Everything is counted, and one in several results is compared completely. */

import { checkCount, checkKey, checkValue, forEach, inChunks } from '../loops.js'

/**
 * Gets entries by key, and records a line.
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {string} name
 * @param {{ count: number, indexAt: (i: number) => number, concurrency?: number, blocking?: boolean }} reading
 */
export async function recordGets(context, session, name, { count, indexAt, concurrency = 1, blocking }) {
  const { db, entries } = session
  const isSync = blocking || session.prefer('get', 'getSync') === 'getSync'
  const { readOptions } = context.settings
  const options = Object.keys(readOptions).length > 0 ? [readOptions] : []
  await context.recorder.record(name, async (watch) => {
    await inChunks({ context, entries, count, indexAt }, watch, async ({ keys, indexes, length }) => {
      if (isSync) {
        for (let i = 0; i < length; i++) checkValue(entries, indexes[i], db.getSync(keys[i]), i)
        return
      }
      await forEach(
        length,
        concurrency,
        (i) => db.get(keys[i], ...options),
        (i, value) => checkValue(entries, indexes[i], value, i)
      )
    })
    return count
  })
}

/**
 * Gets `size` entries in each call, and records a line with the time for one key.
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {string} name
 * @param {{ count: number, indexAt: (i: number) => number, size: number, concurrency?: number }} reading
 */
export async function recordGetMany(context, session, name, { count, indexAt, size, concurrency = 1 }) {
  const { db, entries } = session
  const isSync = session.prefer('getMany', 'getSync') === 'getSync'
  await context.recorder.record(name, async (watch) => {
    await inChunks({ context, entries, count, indexAt }, watch, async ({ keys, indexes, length }) => {
      const calls = Math.ceil(length / size)
      await forEach(
        calls,
        concurrency,
        (call) => {
          const wanted = keys.slice(call * size, (call + 1) * size)
          return isSync ? wanted.map((key) => db.getSync(key)) : db.getMany(wanted)
        },
        (call, values) => {
          const start = call * size
          checkCount(values.length, Math.min(size, length - start))
          for (let i = 0; i < values.length; i++)
            checkValue(entries, indexes[start + i], values[i], start + i)
        }
      )
    })
    return count
  })
}

/**
 * @typedef {'entries' | 'reverse' | 'keys' | 'values' | 'nextv' | 'sync'} Way how everything is read
 */

/**
 * Reads all of a database with the entries below `n`, and records a line with the time for one entry.
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {string} name
 * @param {number} n
 * @param {Way} way
 */
export async function recordScan(context, session, name, n, way) {
  await context.recorder.record(name, async (watch) => {
    watch.start()
    const count = await SCANS[way](session, n, context.settings.readOptions)
    watch.stop()
    checkCount(count, n)
    return count
  })
}

/**
 * Loops over entries and checks them. Returns their number.
 * @param {import('../session.js').Session} session
 * @param {object} options
 * @param {(count: number) => number} indexAt the entry that comes after this many
 */
async function scan({ db, entries }, options, indexAt) {
  let count = 0
  for await (const [key, value] of db.iterator(options)) {
    const index = indexAt(count)
    checkKey(entries, index, key, count)
    checkValue(entries, index, value, count)
    count++
  }
  return count
}

/** @type {Record<Way, (session: import('../session.js').Session, n: number, options: object) => Promise<number>>} */
const SCANS = {
  entries: (session, _n, options) => scan(session, options, (count) => count),

  reverse: (session, n) => scan(session, { reverse: true }, (count) => n - 1 - count),

  async keys({ db, entries }) {
    let count = 0
    for await (const key of db.keys()) {
      checkKey(entries, count, key, count)
      count++
    }
    return count
  },

  async values({ db, entries }) {
    let count = 0
    for await (const value of db.values()) {
      checkValue(entries, count, value, count)
      count++
    }
    return count
  },

  async nextv({ db, entries }) {
    let count = 0
    const iterator = db.iterator()
    for (;;) {
      const page = await iterator.nextv(1000)
      if (page.length === 0) break
      for (const [key, value] of page) {
        checkKey(entries, count, key, count)
        checkValue(entries, count, value, count)
        count++
      }
    }
    await iterator.close()
    return count
  },

  async sync({ db, entries }) {
    let count = 0
    for (const [key, value] of db.iterateSync({})) {
      checkKey(entries, count, key, count)
      checkValue(entries, count, value, count)
      count++
    }
    return count
  }
}

/**
 * Reads ranges of `size` entries that begin anywhere, and records a line with the time for one entry.
 * @param {import('../context.js').Context} context
 * @param {import('../session.js').Session} session
 * @param {string} name
 * @param {{ n: number, size: number, indexAt: (i: number) => number, blocking?: boolean }} reading
 */
export async function recordRanges(context, session, name, { n, size, indexAt, blocking }) {
  const { db, entries } = session
  const ranges = Math.max(1, Math.floor(n / size))
  const expected = (/** @type {number} */ start) => Math.min(size, n - start)

  await context.recorder.record(name, async (watch) => {
    let total = 0
    await inChunks({ context, entries, count: ranges, indexAt }, watch, async ({ keys, indexes, length }) => {
      for (let i = 0; i < length; i++) {
        const range = { gte: keys[i], limit: size }
        let count = 0
        for (const [key, value] of blocking ? db.iterateSync(range) : await db.iterator(range).all()) {
          const index = indexes[i] + count
          checkKey(entries, index, key, count)
          checkValue(entries, index, value, count)
          count++
        }
        checkCount(count, expected(indexes[i]))
        total += count
      }
    })
    return total
  })
}
