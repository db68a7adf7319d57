/** What the package declares for users, under the names of `@types/leveldown` where that has them. */

import type { BackendLevel } from 'terrace-core'

/** A key or a value. Anything else is converted with `String()`. */
export type Bytes = string | Buffer

/**
 * A function that takes these parameters, or narrower ones. leveldown passes null, but the callbacks of `@types/leveldown` do not
 * declare it. The compiler accepts them as the type of a method, and with a property. Without, it is stricter with callbacks.
 */
type Callback<Parameters extends unknown[]> = { of(...parameters: Parameters): void }['of'] & {
  readonly name: string
}

export type ErrorCallback = Callback<[error: Error | null | undefined]>
export type ErrorValueCallback<V> = Callback<[error: Error | null | undefined, value: V]>
export type ErrorKeyValueCallback<K, V> = Callback<[error: Error | null | undefined, key: K, value: V]>
export type ErrorSizeCallback = Callback<[error: Error | null | undefined, size: number]>

/** The state of a database. */
export type Status = 'new' | 'opening' | 'open' | 'closing' | 'closed'

/** Options of {@link LevelDown.open}. Terrace's own options can be given as well. */
export interface LevelDownOpenOptions {
  /** Whether to make the database if there is none. @defaultValue `true` */
  createIfMissing?: boolean | undefined
  /** Whether to fail if there is one. @defaultValue `false` */
  errorIfExists?: boolean | undefined
  compression?: boolean | undefined
  cacheSize?: number | undefined
  writeBufferSize?: number | undefined
  blockSize?: number | undefined
  maxOpenFiles?: number | undefined
  blockRestartInterval?: number | undefined
  maxFileSize?: number | undefined
  readonly [option: string]: unknown
}

/** Options of reads. */
export interface LevelDownGetOptions {
  /** Whether values are returned as buffers, not strings. @defaultValue `true` */
  asBuffer?: boolean | undefined
  /** Whether to keep what was read in the cache. @defaultValue `true` */
  fillCache?: boolean | undefined
}

/** Options of writes. */
export interface LevelDownPutOptions {
  /** Whether to wait until the write would survive a loss of power. @defaultValue `false` */
  sync?: boolean | undefined
}

export type LevelDownDelOptions = LevelDownPutOptions
export type LevelDownBatchOptions = LevelDownPutOptions

/** A range of keys. */
export interface LevelDownClearOptions {
  gt?: Bytes | undefined
  gte?: Bytes | undefined
  lt?: Bytes | undefined
  lte?: Bytes | undefined
  /** Whether to begin with the last key. @defaultValue `false` */
  reverse?: boolean | undefined
  /** The largest number of entries; -1 means no limit. @defaultValue `-1` */
  limit?: number | undefined
}

/** Options of {@link AbstractLevelDown.iterator}. */
export interface LevelDownIteratorOptions extends LevelDownClearOptions {
  /** Whether keys are wanted. @defaultValue `true` */
  keys?: boolean | undefined
  /** Whether values are wanted. @defaultValue `true` */
  values?: boolean | undefined
  /** Whether keys are returned as buffers, not strings. @defaultValue `true` */
  keyAsBuffer?: boolean | undefined
  /** Whether values are returned as buffers, not strings. @defaultValue `true` */
  valueAsBuffer?: boolean | undefined
  /** Whether to keep what was read in the cache. @defaultValue `false` */
  fillCache?: boolean | undefined
  /** The size of the entries that are read ahead, in bytes. @defaultValue `16 * 1024` */
  highWaterMark?: number | undefined
  /** The same, under the name that Terrace has for it. */
  highWaterMarkBytes?: number | undefined
}

/** One operation of a batch. */
export type LevelDownBatchOperation =
  | { readonly type: 'put'; readonly key: Bytes; readonly value: Bytes }
  | { readonly type: 'del'; readonly key: Bytes }

/** Operations that are collected one by one. */
export interface LevelDownChainedBatch {
  readonly db: AbstractLevelDown
  /** How many operations there are. */
  readonly length: number
  put(key: Bytes, value: Bytes, options?: object): this
  del(key: Bytes, options?: object): this
  clear(): this
  write(callback: ErrorCallback): void
  write(options: LevelDownBatchOptions, callback: ErrorCallback): void
}

/** An iterator over the entries of a range, as they were when it was made. */
export interface LevelDownIterator {
  readonly db: AbstractLevelDown
  /** Passes the next entry to the callback. At the end, key and value are undefined. */
  next(callback: ErrorKeyValueCallback<Bytes, Bytes>): this
  next(): Promise<[key: Bytes, value: Bytes] | undefined>
  /** Moves to the first entry that is not before the target, in the order of the iterator. */
  seek(target: Bytes): void
  end(callback: ErrorCallback): void
  end(): Promise<void>
  [Symbol.asyncIterator](): AsyncGenerator<[key: Bytes, value: Bytes], void, unknown>
}

/** What a database can do, in the form of level-supports 2. */
export interface LevelDownManifest {
  readonly bufferKeys: boolean
  readonly snapshots: boolean
  readonly permanence: boolean
  readonly seek: boolean
  readonly clear: boolean
  readonly getMany: boolean
  readonly status: boolean
  readonly createIfMissing: boolean
  readonly errorIfExists: boolean
  readonly additionalMethods: Readonly<Record<string, boolean>>
  readonly [feature: string]: unknown
}

/** What every database with leveldown's API has, wherever it keeps its entries. */
export interface AbstractLevelDown {
  readonly status: Status
  readonly supports: LevelDownManifest
  /** The database underneath: the same entries, under the API of abstract-level. */
  readonly level: BackendLevel<unknown, unknown>
  isOperational(): boolean

  open(callback: ErrorCallback): void
  open(options: LevelDownOpenOptions, callback: ErrorCallback): void
  close(callback: ErrorCallback): void

  get(key: Bytes, callback: ErrorValueCallback<Bytes>): void
  get(key: Bytes, options: LevelDownGetOptions, callback: ErrorValueCallback<Bytes>): void
  getMany(keys: readonly Bytes[], callback: ErrorValueCallback<Array<Bytes | undefined>>): void
  getMany(
    keys: readonly Bytes[],
    options: LevelDownGetOptions,
    callback: ErrorValueCallback<Array<Bytes | undefined>>
  ): void
  getMany(keys: readonly Bytes[], options?: LevelDownGetOptions): Promise<Array<Bytes | undefined>>

  put(key: Bytes, value: Bytes, callback: ErrorCallback): void
  put(key: Bytes, value: Bytes, options: LevelDownPutOptions, callback: ErrorCallback): void
  del(key: Bytes, callback: ErrorCallback): void
  del(key: Bytes, options: LevelDownDelOptions, callback: ErrorCallback): void
  batch(): LevelDownChainedBatch
  batch(operations: readonly LevelDownBatchOperation[], callback: ErrorCallback): void
  batch(
    operations: readonly LevelDownBatchOperation[],
    options: LevelDownBatchOptions,
    callback: ErrorCallback
  ): void
  clear(callback: ErrorCallback): void
  clear(options: LevelDownClearOptions, callback: ErrorCallback): void

  iterator(options?: LevelDownIteratorOptions): LevelDownIterator
}

/** A database on disk. */
export interface LevelDown extends AbstractLevelDown {
  readonly location: string
  /** Estimates how many bytes the keys from `start` to `end` take on disk. */
  approximateSize(start: Bytes, end: Bytes, callback: ErrorSizeCallback): void
  /** Compacts the keys from `start` to `end`, so that deleted ones take no space. */
  compactRange(start: Bytes, end: Bytes, callback: ErrorCallback): void
  /** Returns a property such as `leveldb.stats`, or an empty string if there is no such property. */
  getProperty(property: string): string
}

/** `leveldown` itself: a class that can be called without `new`. */
export interface LevelDownConstructor {
  /** Makes an instance for the database in a directory. Call {@link AbstractLevelDown.open} next. */
  new (location: string): LevelDown
  (location: string): LevelDown
  readonly prototype: LevelDown
  /** Removes a database. */
  destroy(location: string, callback: ErrorCallback): void
  /** Restores what can be read of a damaged database. */
  repair(location: string, callback: ErrorCallback): void
  /**
   * Returns the instance over a database of Terrace, or over a sublevel of one: the same entries, hooks and events under
   * leveldown's API. Opening or closing one opens or closes the other.
   *
   * @throws TypeError if it is no database of Terrace.
   */
  from(level: object): LevelDown
}

/** A class for databases in memory, which can be called without `new`. */
export interface MemDownConstructor {
  /** Makes an empty database. Call {@link AbstractLevelDown.open} next. */
  new (): AbstractLevelDown
  (): AbstractLevelDown
  readonly prototype: AbstractLevelDown
}
