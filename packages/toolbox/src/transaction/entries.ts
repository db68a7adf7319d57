import { type ByteString, byteString, decodedBy, type Encoding, fromByteString } from '../encoded.js'
import { keyEncodingOf, valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import type { KeyRange } from './key-range.js'
import { after, type KeySpace } from './key-space.js'
import { merged, type StoredEntry } from './merge.js'
import { type OwnWrite, ownValue } from './own-writes.js'

/** Entries are read from the database so many at a time. */
const ENTRIES_A_READ = 64

/** What to iterate over, and in which way. */
export interface EntriesRequest {
  readonly space: KeySpace
  readonly range: KeyRange
  readonly own: readonly OwnWrite[]
  readonly reverse: boolean
  /** Infinity for all. */
  readonly limit: number
  readonly keyEncoding: unknown
  readonly valueEncoding: unknown
  /** Options that the database's own iterator is to have besides. */
  readonly options: object
}

/** What of a range has been read so far. */
export type Reached = (range: KeyRange) => void

/**
 * The entries of a range as a transaction sees them. `reached` is called with the part of the range that is known to the
 * caller, before an entry of it is.
 */
export async function* entries(
  request: EntriesRequest,
  snapshot: object | undefined,
  reached: Reached
): AsyncGenerator<[unknown, unknown], void, undefined> {
  const { space, range, own, reverse, limit } = request
  const keyEncoding = keyEncodingOf(space.db, request.keyEncoding)
  const valueEncoding = valueEncodingOf(space.db, request.valueEncoding)
  const stored = storedEntries(request, snapshot)
  let count = 0

  try {
    for await (const entry of merged(stored.read, own, reverse)) {
      reached(reverse ? { from: entry.key, to: range.to } : { from: range.from, to: after(entry.key) })
      yield [keyOf(space, keyEncoding, entry.key), valueIn(valueEncoding, entry)]
      if (++count === limit) return
    }

    reached(range)
  } finally {
    await stored.close()
  }
}

interface Stored {
  read(): Promise<StoredEntry[]>
  close(): Promise<void>
}

/** Reads the entries of the database itself, keys as bytes. */
function storedEntries(request: EntriesRequest, snapshot: object | undefined): Stored {
  const { space, range, reverse, limit, own } = request
  const start = space.prefix.length
  const iterator = (space.db as AnyLevel).iterator<Uint8Array, unknown>({
    ...request.options,
    ...(range.from === space.prefix ? {} : { gte: fromByteString(range.from.slice(start)) }),
    ...(range.to === space.end ? {} : { lt: fromByteString((range.to as ByteString).slice(start)) }),
    ...(snapshot === undefined ? {} : { snapshot: snapshot as never }),
    keyEncoding: 'buffer',
    valueEncoding: request.valueEncoding as string | undefined,
    reverse,
    // Own writes may hide as many of what is stored.
    limit: limit === Number.POSITIVE_INFINITY ? -1 : limit + own.length
  })

  return {
    async read() {
      const found = await iterator.nextv(ENTRIES_A_READ)
      return found.map(([key, value]) => ({ key: space.prefix + byteString(key), value }))
    },
    close: () => iterator.close()
  }
}

function keyOf(space: KeySpace, encoding: Encoding, key: ByteString): unknown {
  return decodedBy(encoding, fromByteString(key.slice(space.prefix.length)))
}

function valueIn(encoding: Encoding, entry: StoredEntry | OwnWrite): unknown {
  return 'operation' in entry ? ownValue(entry, encoding) : entry.value
}
