import type { Transcoder } from 'abstract-level'
import type { LevelLike } from '../level-like.js'

/** A database or sublevel with keys and values of certain types. */
export type Database<K, V> = LevelLike<K, V>

type Encoding<T> = string | Transcoder.PartialDecoder<T> | Transcoder.PartialEncoding<T> | undefined

/** Options for keys and values: their sublevel and their encodings. */
export interface KeyOptions<K, V> {
  /**
   * The sublevel that contains the key: one of the same database, at any depth, or the database itself.
   *
   * @defaultValue the argument of `transactions`
   */
  sublevel?: Database<K, V> | undefined

  /**
   * The encoding of the key.
   *
   * @defaultValue that of the sublevel
   */
  keyEncoding?: Encoding<K>

  /**
   * The encoding of the value.
   *
   * @defaultValue that of the sublevel
   */
  valueEncoding?: Encoding<V>
}

/** Options of writes. Other options, such as those of parts that use hooks, are added to the batch with the operation. */
export interface WriteOptions<K, V> extends KeyOptions<K, V> {
  /** Any other option. It is added to the batch with the operation. */
  [option: string]: unknown
}

/** Options of iterators: a range, a direction and a limit. */
export interface IteratorOptions<K, V> extends KeyOptions<K, V> {
  /** The lower bound, exclusive. */
  gt?: NoInfer<K>
  /** The lower bound, inclusive. */
  gte?: NoInfer<K>
  /** The upper bound, exclusive. */
  lt?: NoInfer<K>
  /** The upper bound, inclusive. */
  lte?: NoInfer<K>
  /**
   * Whether to read from the last entry to the first.
   *
   * @defaultValue `false`
   */
  reverse?: boolean | undefined
  /**
   * The maximum number of entries to read. A negative number means no limit.
   *
   * @defaultValue `-1`
   */
  limit?: number | undefined
}

/**
 * Yields entries, keys or values in order, including the transaction's own writes as they were when the iterator was created.
 */
export interface TransactionIterator<T> extends AsyncIterableIterator<T> {
  /** Reads the next item. */
  next(): Promise<IteratorResult<T, undefined>>
  /** Ends the iterator early. Entries that it did not reach count as not read. */
  return(): Promise<IteratorResult<T, undefined>>
  /** Reads all remaining items. */
  all(): Promise<T[]>
}

/**
 * The object through which a transaction's function reads and writes. All reads show one state of the database, that of the
 * first read, including the transaction's own writes. Nothing is written until the function has ended. After that, every
 * method throws TRANSACTION_ENDED.
 */
export interface Transaction<KDefault, VDefault> {
  /** Returns the value of a key; undefined if there is none. */
  get(key: KDefault): Promise<VDefault | undefined>
  get<K = KDefault, V = VDefault>(key: K, options: KeyOptions<K, V>): Promise<V | undefined>

  /** Returns the values of keys, in their order, with undefined where there is none. */
  getMany(keys: KDefault[]): Promise<Array<VDefault | undefined>>
  getMany<K = KDefault, V = VDefault>(keys: K[], options: KeyOptions<K, V>): Promise<Array<V | undefined>>

  /** Returns whether the key exists. */
  has(key: KDefault): Promise<boolean>
  has<K = KDefault, V = VDefault>(key: K, options: KeyOptions<K, V>): Promise<boolean>

  /** Writes an entry when the transaction commits. Key and value must not change until then. */
  put(key: KDefault, value: VDefault): void
  put<K = KDefault, V = VDefault>(key: K, value: V, options: WriteOptions<K, V>): void

  /** Deletes an entry when the transaction commits. */
  del(key: KDefault): void
  del<K = KDefault, V = VDefault>(key: K, options: WriteOptions<K, V>): void

  /** Creates an iterator over the entries of a range. */
  iterator(): TransactionIterator<[KDefault, VDefault]>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): TransactionIterator<[K, V]>

  /** Creates an iterator over the keys of a range. */
  keys(): TransactionIterator<KDefault>
  keys<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): TransactionIterator<K>

  /** Creates an iterator over the values of a range. */
  values(): TransactionIterator<VDefault>
  values<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): TransactionIterator<V>
}

/** Options of a transaction. If they are passed to `transactions`, they are the defaults for all transactions. */
export interface TransactionOptions {
  /**
   * How many times the function is called again if other writes have changed what it had read.
   *
   * @defaultValue `10`
   */
  retries?: number | undefined

  /** A signal that ends the transaction before it is committed. */
  signal?: AbortSignal | undefined

  /**
   * Whether the commit waits until it would survive a power loss. Without this option, the commit is as durable as any other
   * acknowledged write.
   *
   * @defaultValue `false`
   */
  sync?: boolean | undefined
}

/**
 * Options for any types of keys and values. They are used within the package, where encodings have the last word.
 *
 * @internal
 */
// biome-ignore lint/suspicious/noExplicitAny: databases of different types have no type in common
export type AnyOptions = WriteOptions<any, any>

/**
 * Like {@link AnyOptions}, for iterators.
 *
 * @internal
 */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyIteratorOptions = IteratorOptions<any, any>

/** Options of single conditional writes. */
export type ConditionalOptions<K, V> = WriteOptions<K, V> & TransactionOptions

/** A function that computes the new value from the old one. Undefined means no entry. */
export type Change<V> = (value: V | undefined) => V | undefined | Promise<V | undefined>

/** Runs transactions on a database. It is created by {@link transactions}. */
export interface Transactions<KDefault, VDefault> {
  /**
   * Calls the function with a transaction, and commits its writes as one batch. If other writes have changed what it had read,
   * the function is called again. If it throws, nothing is written.
   *
   * @returns The result of the function.
   * @throws TRANSACTION_CONFLICT, TRANSACTION_NESTED, LEVEL_ABORTED, and the errors of the function and of `batch`.
   */
  <T>(
    run: (transaction: Transaction<KDefault, VDefault>) => T | Promise<T>,
    options?: TransactionOptions
  ): Promise<T>

  /** Writes an entry if the key does not exist. Returns whether it did. */
  ifAbsent(key: KDefault, value: VDefault): Promise<boolean>
  ifAbsent<K = KDefault, V = VDefault>(key: K, value: V, options: ConditionalOptions<K, V>): Promise<boolean>

  /**
   * Writes an entry if the current value is the expected one, compared as encoded bytes. Returns whether it did.
   *
   * @param expected - The expected value; `undefined` means that the key must not exist.
   * @param value - The new value; `undefined` deletes the entry.
   */
  ifEquals(key: KDefault, expected: VDefault | undefined, value: VDefault | undefined): Promise<boolean>
  ifEquals<K = KDefault, V = VDefault>(
    key: K,
    expected: V | undefined,
    value: V | undefined,
    options: ConditionalOptions<K, V>
  ): Promise<boolean>

  /**
   * Replaces a value with the result of a function.
   *
   * @param change - Called with the value, or undefined if there is none. It is called again if other writes have changed the
   *   value meanwhile. If it returns undefined, the entry is deleted.
   * @returns The new value.
   */
  update(key: KDefault, change: Change<VDefault>): Promise<VDefault | undefined>
  update<K = KDefault, V = VDefault>(
    key: K,
    change: Change<V>,
    options: ConditionalOptions<K, V>
  ): Promise<V | undefined>
}
