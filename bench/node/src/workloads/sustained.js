import { runClients } from '../clients.js'
import { Random } from '../random.js'
import { verify, Written } from '../verify.js'

/** Entries in the batches that are made beforehand. There are at least two batches. */
const POOL_ENTRIES = 300_000

/**
 * Clients that write without pause for some seconds. Single puts are made when they are needed. Batches are made beforehand and
 * written again and again, because making a large one would block the event loop for longer than the database does.
 * @param {import('../context.js').Context} context
 */
export async function sustained(context) {
  const { n, batchSize, seed } = context.settings
  const session = await context.open()
  const { db, entries, writeOptions } = session
  const options = writeOptions === undefined ? [] : [writeOptions]
  const written = new Written(n)
  const random = new Random(seed)
  const write = batchSize === 1 ? puts() : batches()
  let operations = 0

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

  const buckets = await runClients(context, 'sustained', write, () => operations)
  await verify(session, written)
  await session.close()
  return { eventLoopBuckets: buckets }
}
