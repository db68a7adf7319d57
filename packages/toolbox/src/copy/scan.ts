import { bytesOf } from '../encoded.js'
import type { AnyLevel } from '../level-like.js'
import type { CopyRange, PartLimits } from './options.js'
import { type RawEntry, sizeOf } from './tally.js'

/** The number of entries per read. */
const READ_ENTRIES = 1000

/** The bounds of a range as bytes. */
type Bounds = { [name in 'gt' | 'gte' | 'lt' | 'lte']?: Uint8Array }

/** The number of bytes at which databases end a read early. */
const READ_BYTES = 2 ** 18

// abstract-level's types lack the option `highWaterMarkBytes`, which many databases support.
const rawReads = { keyEncoding: 'view', valueEncoding: 'view', highWaterMarkBytes: READ_BYTES } as const

/**
 * Yields the entries of a range as bytes, in parts, from one snapshot: an explicit one if the database supports those, otherwise
 * the iterator's.
 */
export async function* scan(
  db: AnyLevel,
  range: CopyRange<unknown>,
  limits: PartLimits
): AsyncGenerator<RawEntry[], void, void> {
  // A snapshot can only be made of an open database.
  if (db.status === 'opening') await db.open()
  const snapshot = db.supports.explicitSnapshots === true ? db.snapshot() : undefined

  try {
    const iterator = db.iterator({
      ...boundsOf(db, range),
      ...(snapshot === undefined ? {} : { snapshot }),
      ...rawReads
    })

    try {
      yield* partsOf(iterator as never, limits)
    } finally {
      await iterator.close()
    }
  } finally {
    await snapshot?.close()
  }
}

/** Reads entries as bytes, from `after` on, as many as one read of the database returns; none at the end. */
export async function readAfter(db: AnyLevel, after: Uint8Array | undefined): Promise<RawEntry[]> {
  const iterator = db.iterator({ ...(after === undefined ? {} : { gt: after }), ...rawReads })
  try {
    return (await iterator.nextv(READ_ENTRIES)) as unknown as RawEntry[]
  } finally {
    await iterator.close()
  }
}

async function* partsOf(
  iterator: { nextv(size: number): Promise<RawEntry[]> },
  limits: PartLimits
): AsyncGenerator<RawEntry[], void, void> {
  let part: RawEntry[] = []
  let bytes = 0

  while (true) {
    const entries = await iterator.nextv(READ_ENTRIES)
    if (entries.length === 0) break

    for (const entry of entries) {
      const size = sizeOf(entry)
      if (part.length >= limits.entries || (part.length > 0 && bytes + size > limits.bytes)) {
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
export function boundsOf(db: AnyLevel, range: CopyRange<unknown>): Bounds {
  const encoding = db.keyEncoding(range.keyEncoding as 'utf8')
  const bounds: Bounds = {}

  for (const name of ['gt', 'gte', 'lt', 'lte'] as const) {
    if (range[name] === undefined) continue
    bounds[name] = bytesOf(encoding.encode(range[name] as string))
  }

  return bounds
}
