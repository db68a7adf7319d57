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
   * Whether to keep the blocks that were read in the cache. Turn it off for large scans that will not be repeated.
   *
   * @defaultValue `true`
   */
  fillCache?: boolean | undefined
}

/** Options of every write. */
export interface WriteOptions {
  /**
   * Whether to wait until the write would survive a loss of power. Without it, an acknowledged write survives the death of the
   * process, but a loss of power may take the last ones. Many such writes at the same time share one sync.
   *
   * @defaultValue `false`
   */
  sync?: boolean | undefined
}

/** Options of every iterator. */
export interface AdditionalIteratorOptions {
  /**
   * Whether to keep the blocks that were read in the cache.
   *
   * @defaultValue `false`
   */
  fillCache?: boolean | undefined

  /**
   * The amount of memory, in bytes, for entries that are read ahead. Reading ahead stops when their bytes exceed it, or at 1000
   * entries. `Infinity` leaves only the second limit.
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
  /** A sublevel of the database, to which the key belongs. Its encodings apply. */
  // The type of its database is left open. If it were named, TypeScript 7 would refuse a ClassicLevel as an AbstractLevel wherever it
  // has compared this type before.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  sublevel?: AbstractSublevel<any, any, any, any> | undefined
}

/**
 * An operation of `batch()`: a put or a del, possibly on a sublevel.
 *
 * @typeParam _TDatabase - Has no effect. classic-level's type of this name has it.
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

/** What `iterator()` returns. */
export type Iterator<TDatabase, K, V> = AbstractIterator<TDatabase, K, V> & SyncIterable<[K, V]>
/** What `keys()` returns. */
export type KeyIterator<TDatabase, K> = AbstractKeyIterator<TDatabase, K> & SyncIterable<K>
/** What `values()` returns. */
export type ValueIterator<TDatabase, K, V> = AbstractValueIterator<TDatabase, K, V> & SyncIterable<V>

/**
 * An iterator that a loop without `await` can use. The loop blocks its thread while it waits for the disk, and closes the
 * iterator.
 */
export interface SyncIterable<Item> {
  /** Begins a loop. */
  [Symbol.iterator](): Generator<Item, void, unknown>
}
