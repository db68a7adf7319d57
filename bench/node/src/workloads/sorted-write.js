import { setImmediate as turn } from 'node:timers/promises'
import { verify, Written } from '../verify.js'

const MAX_POINTS = 2000
const PROGRESS_EVERY = 100

/**
 * Writes batches one after the other, and records how long each took. If a database has to catch up, batches wait.
 * @param {import('../context.js').Context} context
 */
export async function sortedWrite(context) {
  const { n, batchSize, keyOrder } = context.settings
  const session = await context.open()
  const { db, entries, writeOptions } = session
  const method = session.prefer('batch', 'batchSync')
  const indexAt = context.sequence(n, keyOrder)
  const millis = new Float64Array(Math.ceil(n / batchSize))

  await context.recorder.record(keyOrder === 'sorted' ? 'sorted-write' : 'random-write', async (watch) => {
    for (const number of millis.keys()) {
      // Real entries come from somewhere, so the event loop turns between batches.
      await turn()
      const operations = []
      const end = Math.min(n, (number + 1) * batchSize)
      for (let i = number * batchSize; i < end; i++) {
        const index = indexAt(i)
        operations.push({ type: 'put', key: entries.key(index), value: entries.value(index) })
      }
      const before = performance.now()
      watch.start()
      await db[method](operations, writeOptions)
      watch.stop()
      millis[number] = performance.now() - before
      if (number % PROGRESS_EVERY === 0) {
        context.progress(number / millis.length)
        context.recorder.sampleHeap()
      }
    }
    return n
  })
  await verify(session, Written.all(n))
  await session.close()
  return { batches: { count: millis.length, ...percentiles(millis), series: series(millis) } }
}

/** @param {Float64Array} millis */
export function percentiles(millis) {
  const sorted = millis.toSorted()
  /** @param {number} share */
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return { p50: at(0.5), p99: at(0.99), 'p99.9': at(0.999), max: at(1) }
}

/**
 * Means and maxima over time. Neighbouring batches are merged if there are more than a picture can show. Columns with only as
 * many digits as a picture needs keep the files of results small.
 * @param {Float64Array} millis
 */
export function series(millis) {
  const each = Math.ceil(millis.length / MAX_POINTS)
  let elapsed = 0
  const columns = { batchesEach: each, seconds: [0], mean: [0], max: [0] }
  for (let point = 0; point * each < millis.length; point++) {
    const some = millis.subarray(point * each, (point + 1) * each)
    const sum = some.reduce((total, time) => total + time, 0)
    elapsed += sum
    columns.seconds[point] = Number((elapsed / 1000).toPrecision(6))
    columns.mean[point] = Number((sum / some.length).toPrecision(4))
    columns.max[point] = Number(some.reduce((a, b) => Math.max(a, b)).toPrecision(4))
  }
  return columns
}
