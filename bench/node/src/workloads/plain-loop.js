import { runClients } from '../clients.js'
import { checkCount, checkKey, checkValue } from '../loops.js'
import { Random } from '../random.js'
import { verify, Written } from '../verify.js'
import { openLoaded } from './writes.js'

/** Operations of one kind in a row. */
const SLICE = 1000

/**
 * One loop that awaits one operation after the other, and nothing else, for some seconds: puts, then gets, then steps of a `for
 * await`, and again. Only the database itself lets the event loop turn.
 * @param {import('../context.js').Context} context
 */
export async function plainLoop(context) {
  const { n, seed } = context.settings
  const session = await openLoaded(context, n)
  const { db, entries, writeOptions } = session
  const options = writeOptions === undefined ? [] : [writeOptions]
  const get = session.prefer('get', 'getSync')
  const put = session.prefer('put', 'putSync')
  const isScanSync = !session.has('iterator')
  const random = new Random(seed)
  let operations = 0

  async function puts() {
    for (let i = 0; i < SLICE; i++) {
      const index = random.below(n)
      await db[put](entries.key(index), entries.value(index), ...options)
    }
    operations += SLICE
  }

  async function gets() {
    for (let i = 0; i < SLICE; i++) {
      const index = random.below(n)
      checkValue(entries, index, await db[get](entries.key(index)), i)
    }
    operations += SLICE
  }

  async function steps() {
    const first = random.below(n)
    const range = { gte: entries.key(first), limit: SLICE }
    let count = 0
    for await (const [key, value] of isScanSync ? db.iterateSync(range) : db.iterator(range)) {
      checkKey(entries, first + count, key, count)
      checkValue(entries, first + count, value, count)
      count++
    }
    checkCount(count, Math.min(SLICE, n - first))
    operations += count
  }

  const slices = [puts, gets, steps]
  let next = 0
  const buckets = await runClients(
    context,
    'plain-loop',
    () => slices[next++ % slices.length](),
    () => operations
  )
  await verify(session, Written.all(n))
  await session.close()
  return { eventLoopBuckets: buckets }
}
