import type { BackendCursor, Bytes, CursorOptions, CursorParts, Page } from 'terrace-core'
import type { LmdbStore, RangeItem } from './binding.js'
import { contains, type KeyCodec, StoredKey, type StoredRange, storedRange } from './keys.js'
import { LmdbSnapshot } from './lmdb-snapshot.js'
import { textOf } from './text.js'

type Item = Exclude<RangeItem, Bytes>

/**
 * A cursor. Between two reads it keeps the read transaction and the last key, and no cursor of LMDB: one that outlived its
 * transaction would be fatal.
 */
export class LmdbCursor implements BackendCursor {
  readonly #store: LmdbStore
  readonly #codec: KeyCodec
  readonly #range: StoredRange
  readonly #parts: CursorParts
  readonly #reverse: boolean
  readonly #keysAsText: boolean
  readonly #valuesAsText: boolean
  readonly #state: LmdbSnapshot
  /** The snapshot that this cursor made, and must close. */
  readonly #own: LmdbSnapshot | undefined
  #start: StoredKey
  #isStartIncluded: boolean
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
    this.#range = storedRange(options)
    this.#parts = parts
    this.#reverse = options.reverse
    this.#keysAsText = options.keyEncoding === 'utf8'
    this.#valuesAsText = options.valueEncoding === 'utf8'
    const { key, isIncluded } = this.#reverse ? this.#range.upper : this.#range.lower
    this.#start = key
    this.#isStartIncluded = isIncluded
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

    if (count > 0) {
      this.#start = codec.last()
      this.#isStartIncluded = false
    }
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
    const end = this.#reverse ? this.#range.lower : this.#range.upper
    return this.#store.getRange({
      start: this.#start,
      exclusiveStart: !this.#isStartIncluded,
      end: end.key,
      inclusiveEnd: end.isIncluded,
      reverse: this.#reverse,
      values: this.#parts !== 'keys',
      transaction: this.#state.transaction
    })
  }

  seek(target: Bytes): void {
    const key = StoredKey.of(target)
    this.#isEnded = !contains(this.#range, key)
    if (this.#isEnded) return
    const { lower, upper } = storedRange({ gte: target, lte: target })
    const bound = this.#reverse ? upper : lower
    this.#start = bound.key
    this.#isStartIncluded = bound.isIncluded
  }

  close(): void {
    this.#own?.close()
  }
}
