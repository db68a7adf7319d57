import { type Backend, type BackendSnapshot, PackedBuffer, type Page, type RangeDeletion } from 'terrace-core'

const CLEARED_KEYS = 1000

/** Reads in the one format that every back-end here has. */
export const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' }

/** Deletes the keys of a range: as the back-end does it, or else within the call. */
export function clear(
  backend: Backend,
  range: RangeDeletion,
  snapshot: BackendSnapshot | undefined
): void | Promise<void> {
  if (backend.clear !== undefined) return backend.clear(range, snapshot)
  clearByKeys(backend, range, snapshot)
}

/** For back-ends that answer at once. */
function clearByKeys(backend: Backend, range: RangeDeletion, snapshot: BackendSnapshot | undefined): void {
  const cursor = backend.cursor({ ...range, ...VIEWS }, 'keys', snapshot)
  try {
    let left = range.limit < 0 ? Number.POSITIVE_INFINITY : range.limit
    for (let hasEnded = false; !hasEnded && left > 0; ) {
      const page = cursor.readSync?.(Math.min(left, CLEARED_KEYS), Number.POSITIVE_INFINITY) as Page
      const pieces = new PackedBuffer(page[1])
      const keys = page.slice(2).map((length) => pieces.take(length as number))
      hasEnded = page[0]
      left -= keys.length
      backend.writeSync?.(
        keys.flatMap((key) => [key, null]),
        false
      )
    }
  } finally {
    void cursor.close()
  }
}
