/** Walks over a range of entries in slices, so that the worker answers other calls in between. */

/** Entries that are read at once. */
const PAGE_ENTRIES = 1000

/** A page ends early once its bytes exceed this. */
const PAGE_BYTES = 1 << 20

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
 * Yields pages of the entries of a range, as pairs of a key and a value; or of keys.
 *
 * @param task - Ends the walk once `isCancelled` is true.
 * @param options - `values` if they are wanted too.
 */
export async function* walk(db, range, task, { values = false } = {}) {
  const iterator = values ? db.iterator(bounds(range)) : db.keys(bounds(range))
  let sliceEnd = performance.now() + SLICE_MS
  try {
    while (true) {
      const page = await iterator.nextv(PAGE_ENTRIES, { highWaterMarkBytes: PAGE_BYTES })
      if (page.length === 0) return
      yield page
      if (performance.now() < sliceEnd) continue
      await turn()
      if (task.isCancelled) return
      sliceEnd = performance.now() + SLICE_MS
    }
  } finally {
    await iterator.close()
  }
}

/** The first keys of a range. */
export async function firstKeys(db, range, count, reverse = false) {
  const iterator = db.keys({ ...bounds(range), limit: count, reverse })
  try {
    return await iterator.nextv(count)
  } finally {
    await iterator.close()
  }
}
