import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page, StoredRange } from 'terrace-core'
import type { LmdbStore, RangeItem, RangeOptions } from './binding.js'
import { END, FIRST, type KeyCodec, ranges, StoredKey } from './keys.js'
import { LmdbSnapshot } from './lmdb-snapshot.js'
import { textOf } from './text.js'

/** An entry that lmdb has read. */
export type Item = Exclude<RangeItem, Bytes>

/** What lmdb reads of a range. Without a transaction, the current one. */
export function itemsIn(
  store: LmdbStore,
  { lower = FIRST, upper = END }: StoredRange<StoredKey>,
  options: Pick<RangeOptions, 'reverse' | 'values' | 'transaction'>
): Iterable<RangeItem> {
  const [start, end] = options.reverse ? [upper, lower] : [lower, upper]
  return store.getRange({
    ...options,
    start: start.key,
    exclusiveStart: !start.isIncluded,
    end: end.key,
    inclusiveEnd: end.isIncluded
  })
}

/**
 * A cursor. Between two reads it keeps the read transaction and the last key, but no cursor of LMDB: one that outlived its
 * transaction would be fatal.
 */
export class LmdbCursor implements BackendCursor {
  readonly #store: LmdbStore
  readonly #codec: KeyCodec
  readonly #range: StoredRange<StoredKey>
  /** The remaining range. */
  #rest: StoredRange<StoredKey>
  readonly #parts: CursorParts
  readonly #reverse: boolean
  readonly #keysAsText: boolean
  readonly #valuesAsText: boolean
  readonly #state: LmdbSnapshot
  /** The snapshot that this cursor made, and must close. */
  readonly #own: LmdbSnapshot | undefined
  #isEnded = false

  constructor(
    store: LmdbStore,
    codec: KeyCodec,
    options: CursorOptions,
    parts: CursorParts,
    snapshot: LmdbSnapshot | undefined
  ) {
    this.#store = store
    this.#codec = codec
    this.#range = ranges.of(options)
    this.#rest = this.#range
    this.#parts = parts
    this.#reverse = options.reverse
    this.#keysAsText = options.keyEncoding === 'utf8'
    this.#valuesAsText = options.valueEncoding === 'utf8'
    this.#own = snapshot === undefined ? new LmdbSnapshot(store) : undefined
    this.#state = snapshot ?? (this.#own as LmdbSnapshot)
  }

  read(size: number, highWaterMarkBytes: number): Page {
    const page: [boolean, undefined, ...Bytes[]] = [false, undefined]
    if (!this.#isEnded) this.#fill(page, size, highWaterMarkBytes)
    page[0] = this.#isEnded
    return page
  }

  readSync(size: number, highWaterMarkBytes: number): Page {
    return this.read(size, highWaterMarkBytes)
  }

  #fill(page: unknown[], size: number, highWaterMarkBytes: number): void {
    const codec = this.#codec
    codec.asText = this.#keysAsText
    const iterator = this.#items()[Symbol.iterator]()
    let bytesLeft = highWaterMarkBytes
    let count = 0

    while (count < size && bytesLeft >= 0) {
      const next = iterator.next()
      if (next.done) {
        this.#isEnded = true
        return
      }
      count++
      bytesLeft -= this.#push(page, next.value)
    }

    if (count > 0) this.#rest = ranges.after(this.#range, this.#reverse, codec.last())
    iterator.return?.()
  }

  /** Adds the parts of an item to a page. Returns their size. */
  #push(page: unknown[], item: RangeItem): number {
    if (this.#parts === 'keys') {
      page.push(item)
      return (item as Bytes).length
    }

    const { key, value } = item as Item
    if (this.#parts === 'entries') page.push(key)
    page.push(this.#valuesAsText ? textOf(value, 0, value.length) : value)
    return value.length + (this.#parts === 'entries' ? key.length : 0)
  }

  #items(): Iterable<RangeItem> {
    return itemsIn(this.#store, this.#rest, {
      reverse: this.#reverse,
      values: this.#parts !== 'keys',
      transaction: this.#state.transaction
    })
  }

  seek(target: Bytes): void {
    this.#isEnded = !ranges.contains(this.#range, StoredKey.of(target))
    if (!this.#isEnded) this.#rest = ranges.from(this.#range, this.#reverse, target)
  }

  close(): void {
    this.#own?.close()
  }
}
