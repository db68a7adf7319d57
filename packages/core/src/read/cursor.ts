/** A cursor of the back-end, with the window of items that was read ahead. */

import type { Backend, BackendCursor, BackendSnapshot, Bytes, CursorParts, Page, Range } from '../backend.js'
import { codedError, notSynchronous } from '../errors.js'
import { LARGE_WORK, yieldToEventLoop } from '../event-loop.js'
import type { AdditionalIteratorOptions } from '../level/operation-options.js'
import { isPromise } from '../promise.js'
import { PackedBuffer } from './packed-buffer.js'
import { backendSnapshot } from './snapshot.js'

/** The most entries that are read ahead. The bound gives other work a turn during a loop of `next()`. */
const MAX_WINDOW_ENTRIES = 1000

/**
 * At first, or after a seek, often only one item is wanted, unless a limit gives the number. Each window may be this many times
 * as large as the last.
 */
const WINDOW_GROWTH = 10

const DEFAULT_HIGH_WATER_MARK_BYTES = 16 * 1024

/** The bound for `all()`, which keeps everything anyway. */
const ALL_HIGH_WATER_MARK_BYTES = 128 * 1024

/** Options as abstract-level passes them to private methods: ranges are encoded, and formats are named. */
export interface PrivateIteratorOptions extends AdditionalIteratorOptions, Range {
  keys?: boolean
  values?: boolean
  reverse: boolean
  keyEncoding: string
  valueEncoding: string
  limit?: number
  snapshot?: unknown
  signal?: AbortSignal | null
}

const emptyWindow: Page = [false, undefined]

/** Where the parts of a window begin. */
const FIRST_PART = 2

const noPieces = new PackedBuffer(undefined)

/** Makes an item from parts of a window. */
export type ItemAt<Item> = (cursor: Cursor<Item>, index: number) => Item

/** `Item` is an entry, a key or a value. */
export class Cursor<Item> {
  readonly #cursor: BackendCursor
  readonly #highWaterMarkBytes: number
  readonly #itemAt: ItemAt<Item>
  /** How many parts of the window make one item. */
  readonly #stride: number
  readonly #signal: AbortSignal | null
  #window = emptyWindow
  /** The index at which the next item begins. */
  #position = FIRST_PART
  /** The rest of the window's buffer. */
  #pieces = noPieces
  #nextWindowEntries: number
  #ended = false
  readonly #limit: number
  #taken = 0
  #closed = false

  /** @param state - The state to read from, instead of the snapshot in the options. */
  constructor(
    backend: Backend,
    options: PrivateIteratorOptions,
    parts: CursorParts,
    itemAt: ItemAt<Item>,
    state?: BackendSnapshot
  ) {
    const { limit } = options
    this.#limit = limit !== undefined && limit >= 0 ? limit : Infinity
    this.#nextWindowEntries = this.#firstWindowEntries
    this.#cursor = backend.cursor(options, parts, state ?? backendSnapshot(options.snapshot))
    this.#stride = parts === 'entries' ? 2 : 1
    this.#itemAt = itemAt
    this.#highWaterMarkBytes = options.highWaterMarkBytes ?? DEFAULT_HIGH_WATER_MARK_BYTES
    this.#signal = options.signal ?? null
    this.#signal?.addEventListener('abort', this.#abort, { once: true })
  }

  /** How many items are in the window. */
  get cached(): number {
    return (this.#window.length - this.#position) / this.#stride
  }

  /** How many items have been taken. */
  get taken(): number {
    return this.#taken
  }

  /** Takes the next item, if it is in the window. */
  take(): Item | undefined {
    const position = this.#position
    if (position >= this.#window.length) return undefined

    this.#position = position + this.#stride
    this.#taken++
    return this.#itemAt(this, position)
  }

  /** Returns a part of the item that is being taken. Each part may be taken once, in order. */
  partAt(index: number): Bytes {
    const part = this.#window[index] as Bytes | number
    return typeof part === 'number' ? this.#pieces.take(part) : part
  }

  /** Takes the next item; undefined at the end. */
  next(): Item | undefined | Promise<Item | undefined> {
    const item = this.take()
    if (item !== undefined || this.#isAtEnd) return item

    const reading = this.#read(MAX_WINDOW_ENTRIES, this.#highWaterMarkBytes)
    return reading === undefined ? this.take() : reading.then(() => this.take())
  }

  /** Takes the next item; undefined at the end. Blocks this thread while it waits for the disk. */
  nextSync(): Item | undefined {
    if (this.#closed) {
      throw codedError('LEVEL_ITERATOR_NOT_OPEN', 'Iterator is not open: cannot read after close()')
    }

    const item = this.take()
    if (item !== undefined || this.#isAtEnd) return item

    this.#readSync(MAX_WINDOW_ENTRIES, this.#highWaterMarkBytes)
    return this.take()
  }

  /** Takes up to `size` items; none at the end. */
  nextv(size: number): Item[] | Promise<Item[]> {
    const cached = this.#takeUpTo(size)
    if (cached.length > 0 || this.#isAtEnd) return cached
    if (size > MAX_WINDOW_ENTRIES) return this.#readMany(size)

    this.#nextWindowEntries = size
    const reading = this.#read(size, this.#highWaterMarkBytes)
    return reading === undefined ? this.#takeUpTo(size) : reading.then(() => this.#takeUpTo(size))
  }

  /**
   * Takes up to `size` items, window by window, so that the event loop gets its turns in between. Stops once they exceed the
   * mark.
   */
  async #readMany(size: number): Promise<Item[]> {
    const items: Item[] = []
    let bytesLeft = this.#highWaterMarkBytes

    while (items.length < size && bytesLeft >= 0 && !this.#isAtEnd) {
      const wanted = Math.min(size - items.length, MAX_WINDOW_ENTRIES)
      this.#nextWindowEntries = wanted
      const reading = this.#read(wanted, bytesLeft)
      if (reading !== undefined) await reading
      bytesLeft -= this.#windowLength
      for (let item = this.take(); item !== undefined; item = this.take()) items.push(item)
    }

    return items
  }

  /** Takes all items that remain. */
  async all(): Promise<Item[]> {
    const items = this.#takeUpTo(Infinity)

    while (!this.#isAtEnd) {
      this.#nextWindowEntries = MAX_WINDOW_ENTRIES
      const reading = this.#read(MAX_WINDOW_ENTRIES, ALL_HIGH_WATER_MARK_BYTES)
      if (reading !== undefined) await reading
      for (let item = this.take(); item !== undefined; item = this.take()) items.push(item)
    }

    return items
  }

  seek(target: Bytes): void {
    this.#drop()
    this.#nextWindowEntries = this.#firstWindowEntries
    this.#ended = false
    this.#cursor.seek(target)
  }

  close(): void | Promise<void> {
    this.#closed = true
    this.#drop()
    this.#signal?.removeEventListener('abort', this.#abort)
    return this.#cursor.close()
  }

  get #isAtEnd(): boolean {
    return this.#ended || this.#taken >= this.#limit
  }

  /** Reads a window, within the call if memory holds it. */
  #read(maxEntries: number, highWaterMarkBytes: number): Promise<void> | undefined {
    const window = this.#cursor.read(this.#windowEntries(maxEntries), highWaterMarkBytes)
    if (isPromise(window)) {
      const accepted = window.then((window) => this.#accept(window))
      // Also if the back-end ignores the abort.
      return this.#signal === null ? accepted : accepted.finally(this.#checkSignal)
    }

    this.#accept(window)
    const wait = yieldToEventLoop(LARGE_WORK)
    // A call that is followed at once by an abort is expected to fail.
    return this.#signal === null ? wait : Promise.resolve(wait).then(this.#checkSignal)
  }

  #readSync(maxEntries: number, highWaterMarkBytes: number): void {
    const cursor = this.#cursor
    if (cursor.readSync === undefined) throw notSynchronous('a loop without await', 'read')
    this.#checkSignal()
    this.#accept(cursor.readSync(this.#windowEntries(maxEntries), highWaterMarkBytes))
  }

  get #firstWindowEntries(): number {
    return this.#limit <= MAX_WINDOW_ENTRIES ? this.#limit : 1
  }

  /** Returns the size of the next window. */
  #windowEntries(max: number): number {
    const size = Math.min(this.#nextWindowEntries, max, this.#limit - this.#taken)
    this.#nextWindowEntries = Math.min(this.#nextWindowEntries * WINDOW_GROWTH, MAX_WINDOW_ENTRIES)
    return size
  }

  #accept(window: Page): void {
    this.#window = window
    this.#position = FIRST_PART
    this.#pieces = new PackedBuffer(window[1])
    this.#ended = window[0]
  }

  /** The length of all parts in the window: of buffers in bytes, of strings in characters. */
  get #windowLength(): number {
    const window = this.#window
    let length = 0
    for (let index = FIRST_PART; index < window.length; index++) {
      const part = window[index] as Bytes | number
      length += typeof part === 'number' ? part : part.length
    }
    return length
  }

  #drop(): void {
    this.#window = emptyWindow
    this.#position = FIRST_PART
    this.#pieces = noPieces
  }

  #takeUpTo(count: number): Item[] {
    const items = new Array<Item>(Math.min(count, this.cached))
    for (let i = 0; i < items.length; i++) items[i] = this.take() as Item
    // The window may be one large value, and the iterator idle from now on.
    if (this.cached === 0) this.#drop()
    return items
  }

  readonly #checkSignal = (): void => {
    if (this.#signal?.aborted) {
      throw Object.assign(codedError('LEVEL_ABORTED', 'Operation has been aborted'), { name: 'AbortError' })
    }
  }

  readonly #abort = (): void => {
    this.#drop()
    this.#cursor.abort?.()
  }
}
