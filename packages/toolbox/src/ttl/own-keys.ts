import type { Encoded } from '../encoded.js'
import { byteRange } from './byte-range.js'
import type { RecordRange } from './expiry-records.js'
import type { LiveSource } from './live-entries.js'

/** The number of keys in one part. */
const PART_KEYS = 1000

/** Yields the keys of a range in parts, including those of expired entries. Keys are bytes, unless the options name buffers. */
export async function* ownKeys(
  { db, records }: LiveSource,
  options: RecordRange
): AsyncGenerator<Encoded[], void, void> {
  const keys = db.keys(byteRange(options) as never)

  try {
    while (true) {
      const part: Encoded[] = await keys.nextv(PART_KEYS)
      if (part.length === 0) return
      yield part.filter((key) => !records.contain(key))
    }
  } finally {
    await keys.close()
  }
}
