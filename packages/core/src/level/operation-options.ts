/** Options of single operations: those of abstract-level, with the additions of this package. */

import type {
  AbstractBatchDelOperation,
  AbstractBatchOptions,
  AbstractBatchPutOperation,
  AbstractDelOptions,
  AbstractGetManyOptions,
  AbstractGetOptions,
  AbstractHasManyOptions,
  AbstractHasOptions,
  AbstractIterator,
  AbstractIteratorOptions,
  AbstractKeyIterator,
  AbstractKeyIteratorOptions,
  AbstractPutOptions,
  AbstractSublevel,
  AbstractValueIterator,
  AbstractValueIteratorOptions
} from 'abstract-level'

/** Options of every read. */
export interface ReadOptions {
  /**
   * Whether to cache the blocks that are read. Turn it off for large scans that will not be repeated.
   *
   * @defaultValue `true`
   */
  fillCache?: boolean | undefined
}

/** Options of every write. */
export interface WriteOptions {
  /**
   * Whether to wait until the write would survive a power loss. Without this option, an acknowledged write survives a process
   * crash, but a power loss may undo the latest writes. Concurrent writes with this option share one sync.
   *
   * @defaultValue `false`
   */
  sync?: boolean | undefined
}

/** Options of every iterator. */
export interface AdditionalIteratorOptions {
  /**
   * Whether to cache the blocks that are read.
   *
   * @defaultValue `false`
   */
  fillCache?: boolean | undefined

  /**
   * The memory for entries that are read ahead, in bytes. Reading ahead stops when the entries exceed this size, or at 1000
   * entries. With `Infinity`, only the second limit applies.
   *
   * @defaultValue `16 * 1024`
   */
  highWaterMarkBytes?: number | undefined
}

/** Options of `get()` and `getSync()`. */
export interface GetOptions<K, V> extends AbstractGetOptions<K, V>, ReadOptions {}
/** Options of `getMany()`. */
export interface GetManyOptions<K, V> extends AbstractGetManyOptions<K, V>, ReadOptions {}
/** Options of `has()`. */
export interface HasOptions<K> extends AbstractHasOptions<K>, ReadOptions {}
/** Options of `hasMany()`. */
export interface HasManyOptions<K> extends AbstractHasManyOptions<K>, ReadOptions {}

/** Options of `put()` and `putSync()`. */
export interface PutOptions<K, V> extends AbstractPutOptions<K, V>, WriteOptions {}
/** Options of `del()` and `delSync()`. */
export interface DelOptions<K> extends AbstractDelOptions<K>, WriteOptions {}
/** Options of `batch()` and `batchSync()` with an array. */
export interface BatchOptions<K, V> extends AbstractBatchOptions<K, V>, WriteOptions {}
/** The option `sublevel` of an operation. */
interface OnSublevel {
  /** The sublevel of the database that the key belongs to. Its encodings apply. */
  // The type of its database is left open. If it were named, TypeScript 7 would refuse a ClassicLevel as an AbstractLevel wherever it
  // has compared this type before.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  sublevel?: AbstractSublevel<any, any, any, any> | undefined
}

/**
 * An operation of `batch()`: a put or a del, possibly on a sublevel.
 *
 * @typeParam _TDatabase - Unused. It exists because classic-level's type of this name has it.
 */
export type BatchOperation<_TDatabase, K, V> = PutOperation<K, V> | DelOperation<K>

interface PutOperation<K, V> extends Omit<AbstractBatchPutOperation<unknown, K, V>, 'sublevel'>, OnSublevel {}
interface DelOperation<K> extends Omit<AbstractBatchDelOperation<unknown, K>, 'sublevel'>, OnSublevel {}

/** Options of `iterator()` and `iterateSync()`. */
export type IteratorOptions<K, V> = AbstractIteratorOptions<K, V> & AdditionalIteratorOptions
/** Options of `keys()`. */
export type KeyIteratorOptions<K> = AbstractKeyIteratorOptions<K> & AdditionalIteratorOptions
/** Options of `values()`. */
export type ValueIteratorOptions<K, V> = AbstractValueIteratorOptions<K, V> & AdditionalIteratorOptions

/** The result of `iterator()`. */
export type Iterator<TDatabase, K, V> = AbstractIterator<TDatabase, K, V> & SyncIterable<[K, V]>
/** The result of `keys()`. */
export type KeyIterator<TDatabase, K> = AbstractKeyIterator<TDatabase, K> & SyncIterable<K>
/** The result of `values()`. */
export type ValueIterator<TDatabase, K, V> = AbstractValueIterator<TDatabase, K, V> & SyncIterable<V>

/**
 * An iterator that can be used in a loop without `await`. The loop blocks its thread while it waits for the disk, and closes
 * the iterator.
 */
export interface SyncIterable<Item> {
  /** Returns the iterator for a loop without `await`. */
  [Symbol.iterator](): Generator<Item, void, unknown>
}
