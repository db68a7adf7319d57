import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page, StoredRange } from 'terrace-core'
import type { NativeIterator, Row, ScanOptions } from './binding.js'
import type { Calls } from './calls.js'
import { inFormat, isEmpty, nativeRange, ranges, storedKey, userKey } from './keys.js'
import type { State } from './state.js'

/** How much a scan reads ahead at first, and once it proves to be long. A request costs the same, however much it reads. */
const FIRST_READ_AHEAD_BYTES = 64 * 1024
const LONG_READ_AHEAD_BYTES = 1024 * 1024
const LONG_ENTRIES = 2000

/**
 * How long an iterator of the engine may be used. Tables that a compaction has replaced are removed after five minutes; a new
 * iterator of the same state reads from their replacements.
 */
const ITERATOR_LIFETIME_MS = 60_000

/** A cursor: a state, the remaining range, and an iterator of the engine while it is fresh. */
export class SlateCursor implements BackendCursor {
  readonly #state: State
  readonly #ownsState: boolean
  readonly #calls: Calls
  readonly #range: StoredRange<Buffer>
  readonly #parts: CursorParts
  readonly #reverse: boolean
  readonly #fillCache: boolean
  readonly #keyFormat: string | undefined
  readonly #valueFormat: string | undefined
  #rest: StoredRange<Buffer>
  #iterator: NativeIterator | undefined
  #iteratorUntil = 0
  /** The number of entries read since the last seek. */
  #entries = 0
  #isLong = false
  #isEnded = false
  #isAborted = false

  /** @param ownsState - Whether the state is closed with the cursor. */
  constructor(state: State, ownsState: boolean, calls: Calls, options: CursorOptions, parts: CursorParts) {
    this.#state = state
    this.#ownsState = ownsState
    this.#calls = calls
    this.#range = ranges.of(options)
    this.#rest = this.#range
    this.#isEnded = isEmpty(this.#range)
    this.#parts = parts
    this.#reverse = options.reverse
    this.#fillCache = options.fillCache !== false
    this.#keyFormat = options.keyEncoding
    this.#valueFormat = options.valueEncoding
  }

  async read(size: number, highWaterMarkBytes: number): Promise<Page> {
    const page: [boolean, undefined, ...Bytes[]] = [false, undefined]
    let bytesLeft = highWaterMarkBytes
    for (let count = 0; count < size && bytesLeft >= 0 && !this.#isEnded && !this.#isAborted; count++) {
      const row = await this.#next().catch((error) => {
        // Entries that were read are not read again. The next read retries.
        if (count === 0) throw error
        return null
      })
      if (row === null) break
      if (row === undefined) this.#isEnded = true
      else bytesLeft -= this.#push(page, row)
    }
    page[0] = this.#isEnded
    return page
  }

  async #next(): Promise<Row | undefined> {
    const iterator = this.#usable ?? (await this.#renewed())
    const row = await this.#calls
      .within(
        'an iterator',
        this.#state.use(() => iterator.next())
      )
      .catch((error) => {
        // The iterator's position is unknown: the call may still be running.
        this.#drop()
        throw error
      })
    if (row !== undefined) {
      // The key itself is passed to the caller.
      this.#rest = ranges.after(this.#range, this.#reverse, Buffer.from(row.key))
      this.#entries++
      // The range is used up, and the engine rejects an empty one.
      if (isEmpty(this.#rest)) this.#isEnded = true
    }
    return row
  }

  /** The iterator at the cursor's position, if it may still be used. */
  get #usable(): NativeIterator | undefined {
    const becomesLong = !this.#isLong && this.#entries >= LONG_ENTRIES
    return becomesLong || performance.now() >= this.#iteratorUntil ? undefined : this.#iterator
  }

  /** Makes a new iterator at the cursor's position. */
  async #renewed(): Promise<NativeIterator> {
    this.#drop()
    this.#isLong = this.#entries >= LONG_ENTRIES
    this.#iteratorUntil = performance.now() + ITERATOR_LIFETIME_MS
    const scan = this.#state.use((source) =>
      source.scan_with_options(nativeRange(this.#rest), this.#scanOptions())
    )
    const iterator = await this.#calls.within('an iterator', scan)
    this.#iterator = iterator
    return iterator
  }

  #scanOptions(): ScanOptions {
    return {
      durability_filter: 'Memory',
      dirty: false,
      read_ahead_bytes: this.#isLong ? LONG_READ_AHEAD_BYTES : FIRST_READ_AHEAD_BYTES,
      cache_blocks: this.#fillCache,
      max_fetch_tasks: this.#isLong ? 4 : 1,
      order: this.#reverse ? 'Descending' : 'Ascending'
    }
  }

  /** Adds the parts of an entry to a page. Returns their size. */
  #push(page: unknown[], { key, value }: Row): number {
    if (this.#parts !== 'values') page.push(userKey(key, this.#keyFormat))
    if (this.#parts !== 'keys') page.push(inFormat(value, this.#valueFormat))
    return (this.#parts === 'values' ? 0 : key.length) + (this.#parts === 'keys' ? 0 : value.length)
  }

  seek(target: Bytes): void {
    this.#drop()
    this.#entries = 0
    this.#isEnded = !ranges.contains(this.#range, storedKey(target))
    if (this.#isEnded) return
    this.#rest = ranges.from(this.#range, this.#reverse, target)
    this.#isEnded = isEmpty(this.#rest)
  }

  abort(): void {
    this.#isAborted = true
  }

  close(): void {
    this.#drop()
    if (this.#ownsState) this.#state.close()
  }

  #drop(): void {
    this.#iterator?.dispose()
    this.#iterator = undefined
  }
}
