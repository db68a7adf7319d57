import { setImmediate as turn } from 'node:timers/promises'
import { Random } from '../random.js'
import { verify, Written } from '../verify.js'

/**
 * Clients that write without pause for some seconds. After each write a client goes on in the next turn of the event
 * loop, as the next request of a real one would come; else a database whose promises are settled at once would keep
 * the loop from turning at all.
 * @param {import('../context.js').Context} context
 */
export async function sustained(context) {
  const { n, concurrency, batchSize, seconds, seed, yieldTurns } = context.settings
  const session = await context.open()
  const { db, entries, writeOptions } = session
  const options = writeOptions === undefined ? [] : [writeOptions]
  const method = batchSize === 1 ? session.prefer('put', 'putSync') : session.prefer('batch', 'batchSync')
  const written = new Written(n)
  const random = new Random(seed)
  let operations = 0
  /** @type {import('../event-loop.js').Bucket[]} */
  let buckets = []

  function next() {
    const index = random.below(n)
    written.add(index)
    operations++
    return index
  }

  function write() {
    if (batchSize === 1) {
      const index = next()
      return db[method](entries.key(index), entries.value(index), ...options)
    }
    const batch = Array.from({ length: batchSize }, () => {
      const index = next()
      return { type: 'put', key: entries.key(index), value: entries.value(index) }
    })
    return db[method](batch, ...options)
  }

  await context.recorder.record('sustained', async (watch, monitor) => {
    const end = performance.now() + seconds * 1000
    let reported = performance.now()

    async function client() {
      for (let now = performance.now(); now < end; now = performance.now()) {
        await write()
        if (yieldTurns) await turn()
        if (now - reported > 500) {
          reported = now
          context.progress(1 - (end - now) / (seconds * 1000))
        }
      }
    }

    watch.start()
    await Promise.all(Array.from({ length: concurrency }, client))
    watch.stop()
    await monitor.stop()
    buckets = monitor.buckets
    return operations
  })
  await verify(session, written)
  await session.close()
  return { eventLoopBuckets: buckets }
}
