import { checkValue, forEach, inChunks } from '../loops.js'
import { Random } from '../random.js'
import { verify, Written } from '../verify.js'
import { openLoaded } from './writes.js'

/** Gets and puts of existing entries, in random order. @param {import('../context.js').Context} context */
export async function mixed(context) {
  const { n, concurrency, readPercent, seed } = context.settings
  const session = await openLoaded(context, n)
  const { db, entries, writeOptions } = session
  const get = session.prefer('get', 'getSync')
  const put = session.prefer('put', 'putSync')
  const options = writeOptions === undefined ? [] : [writeOptions]
  const random = new Random(seed)
  const indexAt = context.sequence(n, context.order)

  await context.recorder.record('mixed', async (watch) => {
    const isRead = Uint8Array.from({ length: n }, () => (random.below(100) < readPercent ? 1 : 0))
    await inChunks({ context, entries, count: n, indexAt, values: true }, watch, async (chunk) => {
      const { from, indexes, keys, values, length } = chunk
      await forEach(
        length,
        concurrency,
        (i) => (isRead[from + i] ? db[get](keys[i]) : db[put](keys[i], values[i], ...options)),
        (i, value) => {
          if (isRead[from + i]) checkValue(entries, indexes[i], value, i)
        }
      )
    })
    return n
  })
  await verify(session, Written.all(n))
  await session.close()
}
