/** Walks over a range of entries in slices, so that the worker answers other calls in between. */

/** Entries that are read at once. */
const PAGE_ENTRIES = 1000

/** A page ends early once its bytes exceed this. */
const PAGE_BYTES = 1 << 20

const DAMAGED = 'LEVEL_CORRUPTION'

/** How long a slice may take before others have their turn. */
const SLICE_MS = 12

/** Bounds of abstract-level for a range: `lower` is included, `upper` is not. */
export const bounds = ({ lower, upper }) => ({
  ...(lower === undefined ? {} : { gte: lower }),
  ...(upper === undefined ? {} : { lt: upper })
})

const turn = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })

/**
 * Yields pages of the entries of a range, as pairs of a key and a value; or of keys. Where the database is damaged, all that comes before
 * the damage is yielded, then the walk fails.
 *
 * @param task - Ends the walk once `isCancelled` is true.
 * @param options - `values` if they are wanted too.
 */
export async function* walk(db, range, task, { values = false } = {}) {
  const read = (bounds) => {
    const options = { ...bounds, highWaterMarkBytes: PAGE_BYTES }
    return values ? db.iterator(options) : db.keys(options)
  }
  const iterator = read(bounds(range))
  let last
  let sliceEnd = performance.now() + SLICE_MS
  try {
    while (true) {
      const page = await iterator.nextv(PAGE_ENTRIES)
      if (page.length === 0) return
      yield page
      last = page.at(-1)
      if (performance.now() < sliceEnd) continue
      await turn()
      if (task.isCancelled) return
      sliceEnd = performance.now() + SLICE_MS
    }
  } catch (error) {
    if (error.code !== DAMAGED) throw error
    const { gte, ...upper } = bounds(range)
    const lower =
      last === undefined ? { ...(gte === undefined ? {} : { gte }) } : { gt: values ? last[0] : last }
    const rest = await allBeforeDamage(read({ ...lower, ...upper }))
    if (rest.length > 0) yield rest
    throw error
  } finally {
    await iterator.close()
  }
}

/** The first keys of a range, or its last ones. */
export const firstKeys = (db, range, count, reverse = false) =>
  take(() => db.keys({ ...bounds(range), limit: count, reverse }), count)

/**
 * As many items of an iterator as there are, up to `count`. Where the database is damaged: those that come before the damage.
 *
 * @throws LEVEL_CORRUPTION if the damage comes first.
 */
export async function take(open, count) {
  const iterator = open()
  const items = []
  try {
    while (items.length < count) {
      // One call may return fewer, if they are large.
      const more = await iterator.nextv(count - items.length)
      if (more.length === 0) break
      items.push(...more)
    }
    return items
  } catch (error) {
    const before = error.code === DAMAGED ? await allBeforeDamage(open()) : []
    if (before.length === 0) throw error
    return before
  } finally {
    await iterator.close()
  }
}

/** Items one by one, until a read fails: one that reads more fails as a whole. Closes the iterator. */
async function allBeforeDamage(iterator) {
  const items = []
  try {
    while (items.length < PAGE_ENTRIES) {
      const [item] = await iterator.nextv(1)
      if (item === undefined) break
      items.push(item)
    }
  } catch (error) {
    if (error.code !== DAMAGED) throw error
  } finally {
    await iterator.close()
  }
  return items
}
