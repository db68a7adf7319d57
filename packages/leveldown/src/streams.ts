/**
 * levelup's streams for a database of abstract-level, such as Terrace's `Level`: the methods, options and events that levelup has.
 *
 * @packageDocumentation
 */

import { Readable, Writable } from 'node:stream'
import { optionsOf } from './checks.js'
import { withoutLegacy } from './ranges.js'

/** How many entries are written in one batch at most, unless an option says otherwise. */
const MAX_BATCH = 1000

interface ItemIterator {
  nextv(count: number): Promise<unknown[]>
  close(): Promise<void>
}

/** What the streams use of a database. */
interface Host {
  iterator(options: object): ItemIterator
  keys(options: object): ItemIterator
  values(options: object): ItemIterator
  batch(operations: object[], options: object): Promise<void>
}

/** Options of streams that read. The others are those of the database's iterators. */
export interface ReadStreamOptions {
  gt?: unknown
  gte?: unknown
  lt?: unknown
  lte?: unknown
  /** The first key, as levelup had it before 3. */
  start?: unknown
  /** The last key, as levelup had it before 3. */
  end?: unknown
  reverse?: boolean | undefined
  /** The largest number of entries; -1 means no limit. @defaultValue `-1` */
  limit?: number | undefined
  /** Whether keys are wanted. Without values, the stream emits keys. @defaultValue `true` */
  keys?: boolean | undefined
  /** Whether values are wanted. Without keys, the stream emits values. @defaultValue `true` */
  values?: boolean | undefined
  /** How many items are read ahead. @defaultValue `16` */
  highWaterMark?: number | undefined
  readonly [option: string]: unknown
}

/** Options of streams that write. The others are those of the database's `batch()`. */
export interface WriteStreamOptions {
  /** What is done with entries that have no type. @defaultValue `'put'` */
  type?: 'put' | 'del' | undefined
  /** How many entries are written in one batch at most. @defaultValue `1000` */
  maxBufferLength?: number | undefined
  readonly [option: string]: unknown
}

/** The methods that {@link addStreams} adds. */
export interface LevelStreams {
  createReadStream(options?: ReadStreamOptions): Readable
  createKeyStream(options?: ReadStreamOptions): Readable
  createValueStream(options?: ReadStreamOptions): Readable
  createWriteStream(options?: WriteStreamOptions): Writable
  readStream(options?: ReadStreamOptions): Readable
  keyStream(options?: ReadStreamOptions): Readable
  valueStream(options?: ReadStreamOptions): Readable
  writeStream(options?: WriteStreamOptions): Writable
}

/**
 * Gives a database the methods of levelup that make streams. A sublevel has its own.
 *
 * @param db - A database of abstract-level.
 * @returns The same database.
 */
export function addStreams<T extends object>(db: T): T & LevelStreams {
  const host = db as unknown as Host
  const isDatabase = ['iterator', 'keys', 'values', 'batch'].every(
    (name) => typeof host?.[name as 'keys'] === 'function'
  )
  if (isDatabase) return Object.assign(db, methodsOf(host))
  throw new TypeError("The first argument 'db' must be a database of abstract-level")
}

function methodsOf(db: Host): LevelStreams {
  const read = (options?: ReadStreamOptions) => new ReadStream(db, optionsOf(options))
  const keys = (options?: ReadStreamOptions) => read({ ...optionsOf(options), keys: true, values: false })
  const values = (options?: ReadStreamOptions) => read({ ...optionsOf(options), keys: false, values: true })
  const write = (options?: WriteStreamOptions) => new WriteStream(db, optionsOf(options))
  return {
    createReadStream: read,
    createKeyStream: keys,
    createValueStream: values,
    createWriteStream: write,
    readStream: read,
    keyStream: keys,
    valueStream: values,
    writeStream: write
  }
}

class ReadStream extends Readable {
  readonly #iterator: ItemIterator
  readonly #hasEntries: boolean

  constructor(db: Host, { keys, values, highWaterMark = 16, ...options }: ReadStreamOptions) {
    super({ objectMode: true, highWaterMark })
    const range = withoutLegacy(options)
    this.#hasEntries = keys !== false && values !== false
    if (this.#hasEntries) this.#iterator = db.iterator(range)
    else this.#iterator = keys === false ? db.values(range) : db.keys(range)
  }

  override async _read(size: number): Promise<void> {
    try {
      const items = await this.#iterator.nextv(size)
      if (this.destroyed) return
      for (const item of items) this.#pass(item)
      if (items.length === 0) this.push(null)
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#iterator.close().then(
      () => done(error),
      (closeError) => done(error ?? closeError)
    )
  }

  #pass(item: unknown): void {
    if (this.#hasEntries) {
      const [key, value] = item as [unknown, unknown]
      this.push({ key, value })
    } else if (item === null || item === undefined) {
      throw new Error(`A key or value is ${item}, which a stream cannot hold`)
    } else {
      this.push(item)
    }
  }
}

class WriteStream extends Writable {
  readonly #db: Host
  readonly #type: 'put' | 'del'
  readonly #options: object
  readonly #maxBatch: number

  constructor(db: Host, { type = 'put', maxBufferLength = MAX_BATCH, ...options }: WriteStreamOptions) {
    super({ objectMode: true, highWaterMark: maxBufferLength })
    this.#db = db
    this.#type = type
    this.#options = options
    this.#maxBatch = maxBufferLength
  }

  override _write(entry: object, _encoding: string, done: (error?: Error | null) => void): void {
    this.#writeAll([entry]).then(() => done(), done)
  }

  override _writev(entries: Array<{ chunk: object }>, done: (error?: Error | null) => void): void {
    this.#writeAll(entries.map(({ chunk }) => chunk)).then(() => done(), done)
  }

  async #writeAll(entries: object[]): Promise<void> {
    const operations = entries.map((entry) => ({ type: this.#type, ...entry }))
    for (let first = 0; first < operations.length; first += this.#maxBatch) {
      await this.#db.batch(operations.slice(first, first + this.#maxBatch), this.#options)
    }
  }
}
