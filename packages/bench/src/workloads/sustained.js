import { setImmediate as turn } from 'node:timers/promises'
import { Random } from '../random.js'
import { verify, Written } from '../verify.js'

/** Entries of the batches that are made beforehand; there are two batches at least. */
const POOL_ENTRIES = 300_000

/**
 * Clients that write without pause for some seconds. After each write a client goes on in the next turn of the event
 * loop, as the next request of a real one would come; else a database whose promises are settled at once would keep
 * the loop from turning at all. What is put is made as it is needed; batches are made beforehand and written again and
 * again, since making a large one would hold up the event loop for longer than the database does.
 * @param {import('../context.js').Context} context
 */
export async function sustained(context) {
  const { n, concurrency, batchSize, seconds, seed, yieldTurns } = context.settings
  const session = await context.open()
  const { db, entries, writeOptions } = session
  const options = writeOptions === undefined ? [] : [writeOptions]
  const written = new Written(n)
  const random = new Random(seed)
  const write = batchSize === 1 ? puts() : batches()
  let operations = 0
  /** @type {import('../event-loop.js').Bucket[]} */
  let buckets = []

  function puts() {
    const put = session.prefer('put', 'putSync')
    return () => {
      const index = random.below(n)
      written.add(index)
      operations++
      return db[put](entries.key(index), entries.value(index), ...options)
    }
  }

  function batches() {
    const batch = session.prefer('batch', 'batchSync')
    const pool = Array.from({ length: Math.max(2, Math.ceil(POOL_ENTRIES / batchSize)) }, () => {
      const indexes = Array.from({ length: batchSize }, () => random.below(n))
      return {
        indexes,
        operations: indexes.map((index) => ({
          type: 'put',
          key: entries.key(index),
          value: entries.value(index)
        }))
      }
    })
    let next = 0
    return () => {
      const { indexes, operations: batched } = pool[next % pool.length]
      if (next++ < pool.length) for (const index of indexes) written.add(index)
      operations += batchSize
      return db[batch](batched, ...options)
    }
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
