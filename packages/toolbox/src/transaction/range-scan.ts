import type { Buffer } from '../buffer.js'
import { type ByteString, byteString, decodedBy, type Encoding, fromByteString } from '../encoded.js'
import { keyEncodingOf, valueEncodingOf } from '../hooks.js'
import type { KeySpace } from '../key-space.js'
import type { KeyRange } from './key-range.js'
import { type OwnWrite, ownValue } from './own-writes.js'
import { after } from './root-keys.js'

/** The initial number of entries per read from the database. It grows up to the maximum below. */
const FIRST_WINDOW_ENTRIES = 64
const MAX_WINDOW_ENTRIES = 512

/** What to iterate over, and how. */
export interface ScanRequest {
  readonly space: KeySpace
  readonly range: KeyRange
  /** The transaction's own writes in the range, in the order of the iterator. */
  readonly own: readonly OwnWrite[]
  readonly reverse: boolean
  /** Infinity for no limit. */
  readonly limit: number
  readonly keyEncoding: unknown
  readonly valueEncoding: unknown
  /** Whether values are requested. */
  readonly values: boolean
  /** Further options for the database's own iterator. */
  readonly options: object
}

/** A key, and its value if values are requested. */
export type Entry = [key: unknown, value: unknown]

/** An entry of the database. Its key is the bytes of the key in its sublevel. */
type StoredEntry = [key: Buffer, value: unknown]

interface StoredEntries {
  nextv(size: number): Promise<StoredEntry[]>
  close(): Promise<void>
}

/**
 * The entries of a range as a transaction sees them: windows of stored entries, with its own writes merged in. Taking an entry
 * from a window never waits.
 */
export class RangeScan {
  /** The part of the range that the caller knows. */
  readonly reached: ReachedRange
  readonly #request: ScanRequest
  readonly #keyEncoding: Encoding
  readonly #valueEncoding: Encoding
  readonly #stored: StoredEntries
  #window: ReadonlyArray<StoredEntry | OwnWrite> = []
  #position = 0
  #windowEntries = FIRST_WINDOW_ENTRIES
  /** The index of the next own write to merge. */
  #nextOwn = 0
  #left: number
  #isEnd = false

  constructor(request: ScanRequest, snapshot: object | undefined) {
    const { space, limit } = request
    this.#request = request
    this.#left = limit
    this.#keyEncoding = keyEncodingOf(space.given, request.keyEncoding)
    this.#valueEncoding = valueEncodingOf(space.given, request.valueEncoding)
    this.reached = new ReachedRange(request)
    this.#stored = storedEntries(request, snapshot)
  }

  /** Takes the next entry of the window; undefined if there is none. */
  take(): Entry | undefined {
    if (this.#left === 0 || this.#position === this.#window.length) return undefined
    const entry = this.#window[this.#position++] as StoredEntry | OwnWrite
    this.#left--

    if ('operation' in entry) {
      this.reached.last = entry.key
      const key = fromByteString(entry.key.slice(this.#request.space.prefix.length))
      return [decodedBy(this.#keyEncoding, key), ownValue(entry, this.#valueEncoding)]
    }

    const [key, value] = entry
    // Decoded text is a copy. Other keys are passed to the caller, who may change them.
    this.reached.last = this.#keyEncoding.format === 'utf8' ? key : this.#inRoot(key)
    return [decodedBy(this.#keyEncoding, key), value]
  }

  /** Reads the next window, after the last one is used up. Returns false if there is none. */
  async read(): Promise<boolean> {
    while (this.#left > 0 && !this.#isEnd) {
      const found = await this.#stored.nextv(this.#windowEntries)
      this.#windowEntries = Math.min(this.#windowEntries * 2, MAX_WINDOW_ENTRIES)
      this.#isEnd = found.length === 0
      this.#window = this.#request.own.length === 0 ? found : this.#merged(found)
      this.#position = 0
      if (this.#window.length > 0) return true
    }

    if (this.#left > 0) this.reached.isWhole = true
    return false
  }

  close(): Promise<void> {
    return this.#stored.close()
  }

  /**
   * Own writes replace stored entries; deleted entries are omitted. After the last stored entry, all remaining own writes
   * follow.
   */
  #merged(found: StoredEntry[]): Array<StoredEntry | OwnWrite> {
    const { own, reverse } = this.#request
    const entries: Array<StoredEntry | OwnWrite> = []
    const addOwn = (isBefore: (key: ByteString) => boolean): void => {
      for (let write = own[this.#nextOwn]; write !== undefined && isBefore(write.key); ) {
        if (write.value !== undefined) entries.push(write)
        write = own[++this.#nextOwn]
      }
    }

    for (const entry of found) {
      const key = this.#inRoot(entry[0])
      addOwn(reverse ? (own) => own > key : (own) => own < key)
      if (own[this.#nextOwn]?.key !== key) entries.push(entry)
    }
    if (this.#isEnd) addOwn(() => true)
    return entries
  }

  #inRoot(key: Buffer): ByteString {
    return this.#request.space.prefix + byteString(key)
  }
}

/** How far an iterator has got. The key becomes a bound only on access, which does not happen while the iterator runs. */
export class ReachedRange implements KeyRange {
  /** The last key that the caller knows: as bytes in terms of its sublevel, or as a string in terms of the root. */
  last: Buffer | ByteString | undefined
  /** Whether the caller knows that no entry follows. */
  isWhole = false
  readonly #request: ScanRequest

  constructor(request: ScanRequest) {
    this.#request = request
  }

  get from(): ByteString {
    const { range, reverse } = this.#request
    return this.isWhole || !reverse ? range.from : this.#lastKey
  }

  get to(): ByteString | undefined {
    const { range, reverse } = this.#request
    return this.isWhole || reverse ? range.to : after(this.#lastKey)
  }

  get #lastKey(): ByteString {
    const { last } = this
    return typeof last === 'string' ? last : this.#request.space.prefix + byteString(last as Buffer)
  }
}

/** Reads the entries of the database itself. */
function storedEntries(request: ScanRequest, snapshot: object | undefined): StoredEntries {
  const { space, range, limit, own } = request
  const start = space.prefix.length

  return space.given.iterator({
    ...request.options,
    ...(range.from === space.prefix ? {} : { gte: fromByteString(range.from.slice(start)) }),
    ...(range.to === space.end ? {} : { lt: fromByteString((range.to as ByteString).slice(start)) }),
    ...(snapshot === undefined ? {} : { snapshot: snapshot as never }),
    keyEncoding: 'buffer',
    valueEncoding: request.valueEncoding as string | undefined,
    values: request.values,
    reverse: request.reverse,
    // Own writes may hide this many stored entries.
    limit: limit === Number.POSITIVE_INFINITY ? -1 : limit + own.length
  }) as unknown as StoredEntries
}
