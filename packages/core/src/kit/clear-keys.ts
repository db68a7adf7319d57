import type { BackendCursor, Bytes } from '../backend.js'

/** How many keys are read at once, and deleted together. */
const KEYS = 1000
const BYTES = 1024 * 1024

/**
 * Deletes the keys that a cursor finds, and closes the cursor. It serves stores that cannot delete a range.
 *
 * @param cursor - A cursor over keys, whose pages have no packed buffer.
 * @param limit - The maximum number of keys to delete. A negative number means no limit.
 * @param deleteKeys - Deletes up to a thousand keys. It may keep the array and the keys.
 */
export async function clearKeys(
  cursor: BackendCursor,
  limit: number,
  deleteKeys: (keys: Bytes[]) => Promise<unknown>
): Promise<void> {
  let left = limit < 0 ? Infinity : limit
  try {
    for (let isAtEnd = false; !isAtEnd && left > 0; ) {
      const [ended, , ...keys] = await cursor.read(Math.min(KEYS, left), BYTES)
      isAtEnd = ended
      left -= keys.length
      if (keys.length > 0) await deleteKeys(keys as Bytes[])
    }
  } finally {
    cursor.close()
  }
}
