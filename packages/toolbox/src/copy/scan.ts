import { bytesOf } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import type { CopyRange } from './options.js'
import { type RawEntry, sizeOf } from './tally.js'

/** The number of entries per read. */
const READ_ENTRIES = 100

/** The most bytes of a part, unless a single entry has more. */
const MAX_PART_BYTES = 2 ** 20

/**
 * Yields the entries of a range as bytes, in parts of at most `maxEntries`, from one snapshot. It is an explicit snapshot if
 * the database supports those, otherwise that of the iterator.
 */
export async function* scan(
  db: AnyLevel,
  range: CopyRange<unknown>,
  maxEntries: number
): AsyncGenerator<RawEntry[], void, void> {
  // A snapshot can only be made of an open database.
  if (db.status === 'opening') await db.open()
  const snapshot = db.supports.explicitSnapshots === true ? db.snapshot() : undefined

  try {
    const iterator = db.iterator({
      ...boundsOf(db, range),
      ...(snapshot === undefined ? {} : { snapshot }),
      keyEncoding: 'view',
      valueEncoding: 'view'
    })

    try {
      yield* partsOf(iterator as never, maxEntries)
    } finally {
      await iterator.close()
    }
  } finally {
    await snapshot?.close()
  }
}

async function* partsOf(
  iterator: { nextv(size: number): Promise<RawEntry[]> },
  maxEntries: number
): AsyncGenerator<RawEntry[], void, void> {
  let part: RawEntry[] = []
  let bytes = 0

  while (true) {
    const entries = await iterator.nextv(READ_ENTRIES)
    if (entries.length === 0) break

    for (const entry of entries) {
      const size = sizeOf(entry)
      if (part.length >= maxEntries || (part.length > 0 && bytes + size > MAX_PART_BYTES)) {
        yield part
        part = []
        bytes = 0
      }
      part.push(entry)
      bytes += size
    }
  }

  if (part.length > 0) yield part
}

/** The bounds of a range as bytes. */
function boundsOf(db: AnyLevel, range: CopyRange<unknown>): object {
  const encoding = db.keyEncoding(range.keyEncoding as 'utf8')
  const bounds: Record<string, Uint8Array> = {}

  for (const name of ['gt', 'gte', 'lt', 'lte'] as const) {
    if (range[name] === undefined) continue
    bounds[name] = bytesOf(encoding.encode(range[name] as string))
  }

  return bounds
}
