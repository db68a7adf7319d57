/**
 * Iterators over entries, keys and values. All three read through a {@link Cursor}, which keeps a window of what
 * was read ahead.
 */

import { AbstractIterator, AbstractKeyIterator, AbstractValueIterator } from 'abstract-level'
import { type Bytes, Flag, type NativeDatabase, type NativeIterator, type NativeRange } from './binding.js'
import { binding } from './load-binding.js'
import type { AdditionalIteratorOptions } from './operation-options.js'
import { nativeSnapshot } from './snapshot.js'

/** Entries read ahead at most, so that a loop of `next()` lets other work have its turn. */
const MAX_WINDOW_ENTRIES = 1000

const DEFAULT_HIGH_WATER_MARK_BYTES = 16 * 1024

/** For `all()`, which keeps everything anyway. */
const ALL_HIGH_WATER_MARK_BYTES = 1024 * 1024

/** Options as abstract-level passes them to the private methods: ranges are encoded, formats are named. */
export interface PrivateIteratorOptions extends AdditionalIteratorOptions, NativeRange {
  keys?: boolean
  values?: boolean
  reverse: boolean
  keyEncoding: string
  valueEncoding: string
  snapshot?: unknown
  signal?: AbortSignal | null
}

type Window = readonly [ended: boolean, ...parts: Bytes[]]

const emptyWindow: Window = [false]

/** What the iterators have in common with abstract-level's. */
interface Progress {
  readonly count: number
  readonly limit: number
}

/** A native iterator and the window of its items that was read ahead. `Item` is an entry, a key or a value. */
class Cursor<Item> {
  readonly #native: NativeIterator
  readonly #highWaterMarkBytes: number
  readonly #itemAt: (window: Window, index: number) => Item
  /** How many parts of the window make one item. */
  readonly #stride: number
  readonly #signal: AbortSignal | null
  #window = emptyWindow
  /** Where the next item begins; the window's first element is not an item. */
  #position = 1
  /** Nothing was read since the beginning, or since a seek. */
  #fresh = true
  #ended = false

  constructor(
    database: NativeDatabase,
    options: PrivateIteratorOptions,
    parts: number,
    itemAt: (window: Window, index: number) => Item
  ) {
    let flags = parts

    if (options.fillCache === true) flags |= Flag.fillCache
    if (options.keyEncoding !== 'utf8') flags |= Flag.keysAsBuffers
    if (options.valueEncoding !== 'utf8') flags |= Flag.valuesAsBuffers
    if (options.reverse) flags |= Flag.reverse

    const snapshot = nativeSnapshot(options.snapshot)
    if (snapshot !== undefined) flags |= Flag.snapshot

    this.#native = binding.iterator(database, options, flags, snapshot)
    this.#stride = parts === (Flag.keys | Flag.values) ? 2 : 1
    this.#itemAt = itemAt
    this.#highWaterMarkBytes = options.highWaterMarkBytes ?? DEFAULT_HIGH_WATER_MARK_BYTES
    this.#signal = options.signal ?? null
    this.#signal?.addEventListener('abort', this.#abort, { once: true })
  }

  /** How many items are in the window. */
  get cached(): number {
    return (this.#window.length - this.#position) / this.#stride
  }

  next(progress: Progress): Item | undefined | Promise<Item | undefined> {
    if (this.#position < this.#window.length) return this.#take()
    if (this.#ended) return undefined

    // Often only one item is wanted at first or after a seek, so reading ahead begins with the second.
    const size = this.#fresh ? 1 : Math.min(MAX_WINDOW_ENTRIES, progress.limit - progress.count)
    return this.#readNext(size)
  }

  async nextv(size: number): Promise<Item[]> {
    const cached = this.#takeUpTo(size)
    if (cached.length > 0 || this.#ended) return cached

    await this.#read(Math.min(size, 0xffff_ffff), this.#highWaterMarkBytes)
    return this.#takeUpTo(size)
  }

  async all(progress: Progress): Promise<Item[]> {
    const limit = progress.limit - progress.count
    const items = this.#takeUpTo(limit)

    while (items.length < limit && !this.#ended) {
      await this.#read(Math.min(MAX_WINDOW_ENTRIES, limit - items.length), ALL_HIGH_WATER_MARK_BYTES)
      for (const item of this.#takeUpTo(limit)) items.push(item)
    }

    return items
  }

  seek(target: Bytes): void {
    this.#window = emptyWindow
    this.#position = 1
    this.#fresh = true
    this.#ended = false
    binding.iteratorSeek(this.#native, target)
  }

  close(): void {
    this.#window = emptyWindow
    this.#position = 1
    this.#signal?.removeEventListener('abort', this.#abort)
    binding.iteratorClose(this.#native)
  }

  async #readNext(size: number): Promise<Item | undefined> {
    await this.#read(size, this.#highWaterMarkBytes)
    return this.#position < this.#window.length ? this.#take() : undefined
  }

  async #read(size: number, highWaterMarkBytes: number): Promise<void> {
    this.#fresh = false
    this.#window = await binding.iteratorRead(this.#native, size, highWaterMarkBytes)
    this.#position = 1
    this.#ended = this.#window[0]
  }

  #take(): Item {
    const item = this.#itemAt(this.#window, this.#position)
    this.#position += this.#stride
    return item
  }

  #takeUpTo(count: number): Item[] {
    const items = new Array<Item>(Math.min(count, this.cached))
    for (let i = 0; i < items.length; i++) items[i] = this.#take()
    return items
  }

  readonly #abort = (): void => binding.iteratorAbort(this.#native)
}

function partAt(window: Window, index: number): Bytes {
  return window[index] as Bytes
}

type Entry = [key: Bytes | undefined, value: Bytes | undefined]

/** How `iterator()` makes entries of the parts that were asked for. */
function entryParts(options: PrivateIteratorOptions): [number, (window: Window, index: number) => Entry] {
  if (options.keys !== false && options.values !== false) {
    return [Flag.keys | Flag.values, (window, index) => [partAt(window, index), partAt(window, index + 1)]]
  }

  if (options.keys !== false) return [Flag.keys, (window, index) => [partAt(window, index), undefined]]
  if (options.values !== false) return [Flag.values, (window, index) => [undefined, partAt(window, index)]]

  // Something must be read, to be counted.
  return [Flag.keys, () => [undefined, undefined]]
}

/** @internal */
export class EntryIterator<TDatabase, K, V> extends AbstractIterator<TDatabase, K, V> {
  readonly #cursor: Cursor<Entry>

  constructor(db: TDatabase, database: NativeDatabase, options: PrivateIteratorOptions) {
    // Made first: what abstract-level has attached to the database must be closable.
    const cursor = new Cursor(database, options, ...entryParts(options))
    super(db, options as object)
    this.#cursor = cursor
  }

  get cached(): number {
    return this.#cursor.cached
  }

  _next(): Entry | undefined | Promise<Entry | undefined> {
    return this.#cursor.next(this)
  }

  _nextv(size: number): Promise<Entry[]> {
    return this.#cursor.nextv(size)
  }

  _all(): Promise<Entry[]> {
    return this.#cursor.all(this)
  }

  _seek(target: Bytes): void {
    this.#cursor.seek(target)
  }

  async _close(): Promise<void> {
    this.#cursor.close()
  }
}

/** @internal */
export class KeyIterator<TDatabase, K> extends AbstractKeyIterator<TDatabase, K> {
  readonly #cursor: Cursor<Bytes>

  constructor(db: TDatabase, database: NativeDatabase, options: PrivateIteratorOptions) {
    // Made first: what abstract-level has attached to the database must be closable.
    const cursor = new Cursor(database, options, Flag.keys, partAt)
    super(db, options as object)
    this.#cursor = cursor
  }

  get cached(): number {
    return this.#cursor.cached
  }

  _next(): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#cursor.next(this)
  }

  _nextv(size: number): Promise<Bytes[]> {
    return this.#cursor.nextv(size)
  }

  _all(): Promise<Bytes[]> {
    return this.#cursor.all(this)
  }

  _seek(target: Bytes): void {
    this.#cursor.seek(target)
  }

  async _close(): Promise<void> {
    this.#cursor.close()
  }
}

/** @internal */
export class ValueIterator<TDatabase, K, V> extends AbstractValueIterator<TDatabase, K, V> {
  readonly #cursor: Cursor<Bytes>

  constructor(db: TDatabase, database: NativeDatabase, options: PrivateIteratorOptions) {
    // Made first: what abstract-level has attached to the database must be closable.
    const cursor = new Cursor(database, options, Flag.values, partAt)
    super(db, options as object)
    this.#cursor = cursor
  }

  get cached(): number {
    return this.#cursor.cached
  }

  _next(): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#cursor.next(this)
  }

  _nextv(size: number): Promise<Bytes[]> {
    return this.#cursor.nextv(size)
  }

  _all(): Promise<Bytes[]> {
    return this.#cursor.all(this)
  }

  _seek(target: Bytes): void {
    this.#cursor.seek(target)
  }

  async _close(): Promise<void> {
    this.#cursor.close()
  }
}
