import { runClients } from '../clients.js'
import { checkCount, checkKey, checkValue } from '../loops.js'
import { Random } from '../random.js'
import { verify, Written } from '../verify.js'
import { openLoaded } from './writes.js'

/** One in this many reads is a window of an iterator; the others are gets. */
const WINDOW_EVERY = 8

/**
 * Clients that read for some seconds what is on the disk and not in memory: random keys, and windows of --batch-size entries.
 * With a smaller --read-percent, some of their operations are puts. A database in memory has no disk to read from, and shows
 * the work of the clients themselves.
 * @param {import('../context.js').Context} context
 */
export async function coldRead(context) {
  const { n, batchSize, seed, readPercent } = context.settings
  const session = await openLoaded(context, n, { order: 'sorted' })
  const pageCache = await session.reopenCold()
  const { db, entries, writeOptions } = session
  const options = writeOptions === undefined ? [] : [writeOptions]
  const get = session.prefer('get', 'getSync')
  const put = session.prefer('put', 'putSync')
  const isWindowSync = !session.has('iterator')
  const random = new Random(seed)
  let operations = 0
  let reads = 0

  async function readWindow() {
    const first = random.below(n)
    const range = { gte: entries.key(first), limit: batchSize }
    const window = isWindowSync ? db.iterateSync(range) : await db.iterator(range).all()
    let count = 0
    for (const [key, value] of window) {
      checkKey(entries, first + count, key, count)
      checkValue(entries, first + count, value, count)
      count++
    }
    checkCount(count, Math.min(batchSize, n - first))
  }

  async function operate() {
    operations++
    const index = random.below(n)
    if (random.below(100) >= readPercent) return db[put](entries.key(index), entries.value(index), ...options)
    const number = reads++
    if (number % WINDOW_EVERY === WINDOW_EVERY - 1) return readWindow()
    checkValue(entries, index, await db[get](entries.key(index)), number)
  }

  const buckets = await runClients(context, 'cold-read', operate, () => operations)
  const residentAtEndBytes = await session.residentBytes()
  await verify(session, Written.all(n))
  await session.close()
  return { eventLoopBuckets: buckets, pageCache: { ...pageCache, residentAtEndBytes } }
}
