/** Options of single operations: those of abstract-level, and what this package adds to them. */

import type {
  AbstractBatchOperation,
  AbstractBatchOptions,
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
  AbstractValueIterator,
  AbstractValueIteratorOptions
} from 'abstract-level'

/** What reads add. */
export interface ReadOptions {
  /**
   * Keep the blocks that were read in the cache. Turn it off for large scans that will not be repeated.
   *
   * @defaultValue `true`
   */
  fillCache?: boolean | undefined
}

/** What writes add. */
export interface WriteOptions {
  /**
   * Wait until the write would survive a loss of power. Without it an acknowledged write survives the death of the
   * process, but the last ones may be lost with the power. Many such writes at the same time share one sync.
   *
   * @defaultValue `false`
   */
  sync?: boolean | undefined
}

/** What iterators add. */
export interface AdditionalIteratorOptions {
  /**
   * Keep the blocks that were read in the cache.
   *
   * @defaultValue `false`
   */
  fillCache?: boolean | undefined

  /**
   * Memory for entries that were read ahead: reading stops when their bytes exceed it, or 1000 entries. `Infinity`
   * leaves only the latter.
   *
   * @defaultValue `16 * 1024`
   */
  highWaterMarkBytes?: number | undefined
}

export interface GetOptions<K, V> extends AbstractGetOptions<K, V>, ReadOptions {}
export interface GetManyOptions<K, V> extends AbstractGetManyOptions<K, V>, ReadOptions {}
export interface HasOptions<K> extends AbstractHasOptions<K>, ReadOptions {}
export interface HasManyOptions<K> extends AbstractHasManyOptions<K>, ReadOptions {}

export interface PutOptions<K, V> extends AbstractPutOptions<K, V>, WriteOptions {}
export interface DelOptions<K> extends AbstractDelOptions<K>, WriteOptions {}
export interface BatchOptions<K, V> extends AbstractBatchOptions<K, V>, WriteOptions {}
export type BatchOperation<TDatabase, K, V> = AbstractBatchOperation<TDatabase, K, V>

export type IteratorOptions<K, V> = AbstractIteratorOptions<K, V> & AdditionalIteratorOptions
export type KeyIteratorOptions<K> = AbstractKeyIteratorOptions<K> & AdditionalIteratorOptions
export type ValueIteratorOptions<K, V> = AbstractValueIteratorOptions<K, V> & AdditionalIteratorOptions

export type Iterator<TDatabase, K, V> = AbstractIterator<TDatabase, K, V> & SyncIterable<[K, V]>
export type KeyIterator<TDatabase, K> = AbstractKeyIterator<TDatabase, K> & SyncIterable<K>
export type ValueIterator<TDatabase, K, V> = AbstractValueIterator<TDatabase, K, V> & SyncIterable<V>

/** What can be looped over without `await`. The loop waits for the disk on its thread, and closes the iterator. */
export interface SyncIterable<Item> {
  [Symbol.iterator](): Generator<Item, void, unknown>
}
