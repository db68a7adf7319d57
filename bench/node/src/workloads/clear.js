import { verify, Written } from '../verify.js'
import { openLoaded } from './writes.js'

/** Clears a database that has entries. The time is divided by their number. @param {import('../context.js').Context} context */
export async function clear(context) {
  const { n } = context.settings
  const session = await openLoaded(context, n)
  const method = session.prefer('clear', 'clearSync')
  await context.recorder.record('clear', async (watch) => {
    watch.start()
    await session.db[method]()
    watch.stop()
    return n
  })
  await verify(session, new Written(n))
  await session.close()
}
