import type { BackendCursor, BackendReadOptions, Bytes, CursorParts, Page } from 'terrace-core'
import { bytesOf, inFormat } from './bytes.js'
import type { RangeWalk } from './range-walk.js'

/** The rows of the first page whose values' sizes are not known yet, and how much larger than the last one a page may be. */
const FIRST_ROWS = 100
const GROWTH = 10

const MAX_ROWS = 2000

/** About how much is read ahead. */
const AHEAD_BYTES = 256 << 10

/** A position in a range. It reads ahead once a second page is wanted. */
export class IndexedDbCursor implements BackendCursor {
  readonly #makeWalk: () => RangeWalk
  readonly #formats: BackendReadOptions
  readonly #parts: CursorParts
  readonly #release: () => void
  #walk: RangeWalk
  /** What was read and not taken yet: keys, values, or both alternating. */
  #ahead: Bytes[] = []
  #taken = 0
  #reading: Promise<void> | undefined
  #reads = 0
  #lastRows = 0
  /** The average of what was read, in bytes per entry. */
  #entryBytes = 0

  /**
   * @param makeWalk - Makes a walk from the beginning.
   * @param release - Called by {@link close}.
   */
  constructor(
    makeWalk: () => RangeWalk,
    formats: BackendReadOptions,
    parts: CursorParts,
    release: () => void
  ) {
    this.#formats = formats
    this.#makeWalk = makeWalk
    this.#walk = makeWalk()
    this.#parts = parts
    this.#release = release
  }

  read(size: number, highWaterMarkBytes: number): Page | Promise<Page> {
    this.#reads++
    return this.#has(size, highWaterMarkBytes)
      ? this.#take(size, highWaterMarkBytes)
      : this.#readThenTake(size, highWaterMarkBytes)
  }

  seek(target: Bytes): void {
    // A page that is being read belongs to the old one.
    this.#walk = this.#makeWalk()
    this.#walk.seek(bytesOf(target))
    this.#reading = undefined
    this.#ahead = []
    this.#taken = 0
    this.#reads = 0
    this.#lastRows = 0
  }

  close(): void {
    this.#release()
  }

  async #readThenTake(size: number, markBytes: number): Promise<Page> {
    while (!this.#has(size, markBytes)) await (this.#reading ?? this.#readMore(size, markBytes))
    return this.#take(size, markBytes)
  }

  get #stride(): number {
    return this.#parts === 'entries' ? 2 : 1
  }

  /** Whether a page can be taken from what was read. */
  #has(size: number, markBytes: number): boolean {
    return this.#walk.hasEnded && this.#reading === undefined
      ? true
      : this.#end(size, markBytes) < this.#ahead.length ||
          this.#ahead.length - this.#taken >= size * this.#stride
  }

  /** The end of a page that begins with what was not taken yet. */
  #end(size: number, markBytes: number): number {
    const ahead = this.#ahead
    const most = Math.min(ahead.length, this.#taken + size * this.#stride)
    let end = this.#taken
    for (let bytes = 0; end < most && bytes <= markBytes; end += this.#stride) {
      for (let part = end; part < end + this.#stride; part++) bytes += (ahead[part] as Bytes).length
    }
    return end
  }

  #take(size: number, markBytes: number): Page {
    const end = this.#end(size, markBytes)
    const parts = this.#ahead.slice(this.#taken, end)
    this.#taken = end
    const isLast = end === this.#ahead.length && this.#walk.hasEnded && this.#reading === undefined
    this.#readAhead(size, markBytes)
    return [isLast, undefined, ...parts]
  }

  /** Reads ahead while no more than a page is in memory, so that the browser seldom waits for entries to be taken. */
  #readAhead(size: number, markBytes: number): void {
    if (this.#reads < 2 || this.#reading !== undefined || this.#walk.hasEnded) return
    if ((this.#ahead.length - this.#taken) / this.#stride > this.#lastRows) return
    // The next read reports an error, which occurs again.
    this.#readMore(size, markBytes).catch(() => {})
  }

  #readMore(size: number, markBytes: number): Promise<void> {
    const walk = this.#walk
    const rows = this.#rowsOf(size, markBytes)
    this.#lastRows = rows
    const reading = walk.next(rows).then(
      ({ keys, values }) => {
        if (this.#walk !== walk) return
        this.#reading = undefined
        this.#add(keys, values)
        this.#readAhead(size, markBytes)
      },
      (error) => {
        if (this.#walk === walk) this.#reading = undefined
        throw error
      }
    )
    this.#reading = reading
    return reading
  }

  #rowsOf(size: number, markBytes: number): number {
    if (this.#lastRows === 0) return Math.min(size, FIRST_ROWS)
    const affordable = Math.max(AHEAD_BYTES, markBytes) / Math.max(this.#entryBytes, 1)
    return Math.max(1, Math.floor(Math.min(affordable, MAX_ROWS, this.#lastRows * GROWTH)))
  }

  #add(keys: readonly Uint8Array[], values: readonly Uint8Array[]): void {
    const ahead = this.#ahead.slice(this.#taken)
    const { keyEncoding, valueEncoding } = this.#formats
    const [hasKeys, hasValues] = [this.#parts !== 'values', this.#parts !== 'keys']
    let bytes = 0
    keys.forEach((key, index) => {
      const value = values[index]
      bytes += key.length + (value?.length ?? 0)
      if (hasKeys) ahead.push(inFormat(key, keyEncoding))
      if (hasValues) ahead.push(inFormat(value as Uint8Array, valueEncoding))
    })
    if (keys.length > 0) this.#entryBytes = bytes / keys.length
    this.#ahead = ahead
    this.#taken = 0
  }
}
