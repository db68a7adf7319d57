/** Data of several kinds, each in a separate database, or in sublevels of one database. */

import { checkValue, forEach, inChunks } from '../loops.js'
import { verify, Written } from '../verify.js'
import { writeEntries } from './writes.js'

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../session.js').Session} Session */

/** Writes entries into --stores databases, reads them, and opens the databases again. @param {Context} context */
export async function databases(context) {
  /** @type {Session[]} */
  const sessions = []
  for (let store = 0; store < context.settings.stores; store++) sessions.push(await context.open())
  await useStores(context, sessions, () => sessions)
}

/** The same with --stores sublevels of one database. @param {Context} context */
export async function sublevels(context) {
  const session = await context.open()
  session.prefer('sublevel')
  const { keyEncoding, valueEncoding } = context.settings
  await useStores(context, [session], () =>
    Array.from({ length: context.settings.stores }, (_, store) =>
      session.of(session.db.sublevel(`store${store}`, { keyEncoding, valueEncoding }))
    )
  )
}

/**
 * The i-th entry belongs to the store `i % stores`.
 * @param {Context} context
 * @param {Session[]} sessions of the databases
 * @param {() => Session[]} openStores the stores in them, made again whenever the databases were opened
 */
async function useStores(context, sessions, openStores) {
  const { n, stores: count, batchSize, concurrency } = context.settings
  const each = Math.floor(n / count)
  const entryAt = context.sequence(each, context.order)
  let stores = openStores()

  await context.recorder.record('batch', async (watch) => {
    for (const [store, session] of stores.entries()) {
      const indexAt = (/** @type {number} */ i) => entryAt(i) * count + store
      await writeEntries(
        context,
        session,
        { count: each, indexAt, written: new Written(n), batchSize },
        watch
      )
    }
    return each * count
  })

  await context.recorder.record('open', async (watch) => {
    for (const session of sessions) await session.suspend()
    watch.start()
    for (const session of sessions) await session.resume()
    watch.stop()
    return sessions.length
  })
  stores = openStores()
  for (const [store, session] of stores.entries()) await verifyStore(session, { store, count, each })

  const { entries } = stores[0]
  const indexAt = context.sequence(each * count, context.order)
  const method = stores[0].prefer('get', 'getSync')
  await context.recorder.record('get', async (watch) => {
    await inChunks({ context, entries, count: each * count, indexAt }, watch, async (chunk) => {
      const { keys, indexes, length } = chunk
      await forEach(
        length,
        concurrency,
        (i) => stores[indexes[i] % count].db[method](keys[i]),
        (i, value) => checkValue(entries, indexes[i], value, i)
      )
    })
    return each * count
  })
  for (const session of sessions) await session.close()
}

/**
 * @param {Session} session
 * @param {{ store: number, count: number, each: number }} which
 */
async function verifyStore(session, { store, count, each }) {
  const written = new Written(count * each)
  for (let i = 0; i < each; i++) written.add(i * count + store)
  await verify(session, written)
}
