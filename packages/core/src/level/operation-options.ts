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
  AbstractSnapshot,
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

/** Options of writes that may have conditions. */
export interface ConditionalOptions {
  /**
   * What must hold for the write. All conditions are checked in the same state, and no other write comes between the check and
   * this write. If one does not hold, nothing is written, and the call fails with LEVEL_CONFLICT. The property `conditions` of
   * the error has the indices of those that do not hold. Prewrite hook functions run before the check, and cannot read it.
   */
  if?: readonly WriteCondition[] | undefined
}

/** A condition of a write: on a key, or on a range of keys. */
// Keys and values of sublevels have other types than those of the database.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type WriteCondition = KeyCondition<any, any> | RangeCondition<any>

/** What must hold of a key. It has one of `exists`, `value` and `version`. */
export interface KeyCondition<K, V> extends OnSublevel {
  key: K
  keyEncoding?: AbstractPutOptions<K, V>['keyEncoding']
  valueEncoding?: AbstractPutOptions<K, V>['valueEncoding']
  /** Whether there must be an entry with this key. */
  exists?: boolean | undefined
  /** The value that the entry must have. Values are compared in encoded form. */
  value?: V | undefined
  /** The version that the entry must have, as `getEntry()` returned it. Only in databases with `supports.versions`. */
  version?: number | undefined
}

/** What must hold of a range: no entry in it was added, changed or deleted. */
export interface RangeCondition<K> extends OnSublevel {
  gt?: K | undefined
  gte?: K | undefined
  lt?: K | undefined
  lte?: K | undefined
  keyEncoding?: AbstractPutOptions<K, unknown>['keyEncoding']
  /**
   * The snapshot since which nothing in the range has changed. Without bounds, the range has all keys of the database or sublevel.
   * An entry that was written again with the same value may count as changed.
   *
   * In databases with `supports.versions`, it may also be the version of an entry, in the range or not: the state right after that
   * write. If the database was reopened since, or has dropped what would tell, the condition does not hold.
   */
  unchangedSince: AbstractSnapshot | number
}

/** Options of `update()`. Other options are passed to hook functions, as those of `put()` are. */
export interface UpdateOptions<K, V> extends AbstractPutOptions<K, V>, WriteOptions, OnSublevel {
  /**
   * How often the function is called again after others have changed the value in the meantime; 0 or more, or Infinity.
   *
   * @defaultValue `100`
   */
  retries?: number | undefined
  /** Ends the update before its next attempt, with LEVEL_ABORTED. */
  signal?: AbortSignal | undefined
}

/** An entry and its version; see `getEntry()`. */
export interface Entry<V> {
  /** The value. */
  value: V
  /**
   * The version. Each write of the key, of the same value too, gives the entry a larger one; reopening and compactions keep it. A copy
   * of the database made by writing its entries has other versions.
   */
  version: number
}

/** Options of `put()` and `putSync()`. */
export interface PutOptions<K, V> extends AbstractPutOptions<K, V>, WriteOptions, ConditionalOptions {}
/** Options of `del()` and `delSync()`. */
export interface DelOptions<K> extends AbstractDelOptions<K>, WriteOptions, ConditionalOptions {}
/** Options of `batch()` and `batchSync()` with an array. */
export interface BatchOptions<K, V> extends AbstractBatchOptions<K, V>, WriteOptions, ConditionalOptions {}
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
