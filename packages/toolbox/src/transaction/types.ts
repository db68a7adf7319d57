import type { Transcoder } from 'abstract-level'
import type { LevelLike } from '../level-like.js'

/** A database or sublevel with keys and values of certain types. */
export type Database<K, V> = LevelLike<K, V>

type Encoding<T> = string | Transcoder.PartialDecoder<T> | Transcoder.PartialEncoding<T> | undefined

/** Where keys and values belong, and how they are encoded. */
export interface KeyOptions<K, V> {
  /**
   * The sublevel that the key is in: one of the same database, at whatever depth, or the database itself.
   *
   * @defaultValue what `transactions` was called with
   */
  sublevel?: Database<K, V> | undefined

  /** The encoding of the key. @defaultValue that of the sublevel */
  keyEncoding?: Encoding<K>

  /** The encoding of the value. @defaultValue that of the sublevel */
  valueEncoding?: Encoding<V>
}

/** Options of writes. Others, such as those of parts that use hooks, go with the operation into the batch. */
export interface WriteOptions<K, V> extends KeyOptions<K, V> {
  [option: string]: unknown
}

/** Options of iterators: a range, its direction and how many entries at most. */
export interface IteratorOptions<K, V> extends KeyOptions<K, V> {
  gt?: K
  gte?: K
  lt?: K
  lte?: K
  /** From the last entry to the first. @defaultValue `false` */
  reverse?: boolean | undefined
  /** At most so many entries; all, if it is negative. @defaultValue `-1` */
  limit?: number | undefined
}

/** Entries, keys or values in order, with the transaction's own writes as they were when it was made. */
export interface TransactionIterator<T> extends AsyncIterableIterator<T> {
  /** The next one. */
  next(): Promise<IteratorResult<T, undefined>>
  /** Ends it before its end. What was not reached counts as not read. */
  return(): Promise<IteratorResult<T, undefined>>
  /** All that are left. */
  all(): Promise<T[]>
}

/**
 * What a transaction's function reads and writes with. All reads are of one state of the database, that of the
 * first read, with the transaction's own writes in it. Nothing is written until the function is done.
 */
export interface Transaction<KDefault, VDefault> {
  /** The value of a key, undefined if there is none. */
  get(key: KDefault): Promise<VDefault | undefined>
  get<K = KDefault, V = VDefault>(key: K, options: KeyOptions<K, V>): Promise<V | undefined>

  /** The values of keys, in their order; undefined where there is none. */
  getMany(keys: KDefault[]): Promise<Array<VDefault | undefined>>
  getMany<K = KDefault, V = VDefault>(keys: K[], options: KeyOptions<K, V>): Promise<Array<V | undefined>>

  /** Whether there is an entry with the key. */
  has(key: KDefault): Promise<boolean>
  has<K = KDefault, V = VDefault>(key: K, options: KeyOptions<K, V>): Promise<boolean>

  /** Writes an entry once the transaction is committed. Key and value must not be changed until then. */
  put(key: KDefault, value: VDefault): void
  put<K = KDefault, V = VDefault>(key: K, value: V, options: WriteOptions<K, V>): void

  /** Deletes an entry once the transaction is committed. */
  del(key: KDefault): void
  del<K = KDefault, V = VDefault>(key: K, options: WriteOptions<K, V>): void

  /** The entries of a range. */
  iterator(): TransactionIterator<[KDefault, VDefault]>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): TransactionIterator<[K, V]>

  /** The keys of a range. */
  keys(): TransactionIterator<KDefault>
  keys<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): TransactionIterator<K>

  /** The values of a range. */
  values(): TransactionIterator<VDefault>
  values<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): TransactionIterator<V>
}

/** Options of a transaction; as options of `transactions`, the defaults of all. */
export interface TransactionOptions {
  /**
   * How often the function is called again when others have changed what it had read.
   *
   * @defaultValue `10`
   */
  retries?: number | undefined

  /**
   * Ends the transaction, before it is committed.
   */
  signal?: AbortSignal | undefined

  /**
   * Passed to the batch that commits: whether to wait until it would survive a loss of power.
   *
   * @defaultValue `false`
   */
  sync?: boolean | undefined
}

/** Options whatever the types of keys and values are; within the package, where encodings have the last word. @internal */
// biome-ignore lint/suspicious/noExplicitAny: databases of different types have no type in common
export type AnyOptions = WriteOptions<any, any>

/** As {@link AnyOptions}, of iterators. @internal */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyIteratorOptions = IteratorOptions<any, any>

/** Options of single conditional writes. */
export type ConditionalOptions<K, V> = WriteOptions<K, V> & TransactionOptions

/** Makes a new value of an old one; undefined is none. */
export type Change<V> = (value: V | undefined) => V | undefined | Promise<V | undefined>

/** Runs transactions on a database. Made by {@link transactions}. */
export interface Transactions<KDefault, VDefault> {
  /**
   * Calls the function with a transaction, and commits what it wrote by one batch. If others have changed what it had
   * read, it is called again. If it throws, nothing is written.
   *
   * @returns what the function returns.
   * @throws TRANSACTION_CONFLICT, TRANSACTION_NESTED, LEVEL_ABORTED, what the function throws, and what `batch`
   * throws.
   */
  <T>(
    run: (transaction: Transaction<KDefault, VDefault>) => T | Promise<T>,
    options?: TransactionOptions
  ): Promise<T>

  /** Writes an entry if there is none with the key. Returns whether it did. */
  ifAbsent(key: KDefault, value: VDefault): Promise<boolean>
  ifAbsent<K = KDefault, V = VDefault>(key: K, value: V, options: ConditionalOptions<K, V>): Promise<boolean>

  /**
   * Writes an entry if the value is what is expected, compared as encoded bytes. Returns whether it did.
   *
   * @param expected - `undefined` expects that there is none.
   * @param value - `undefined` deletes the entry.
   */
  ifEquals(key: KDefault, expected: VDefault | undefined, value: VDefault | undefined): Promise<boolean>
  ifEquals<K = KDefault, V = VDefault>(
    key: K,
    expected: V | undefined,
    value: V | undefined,
    options: ConditionalOptions<K, V>
  ): Promise<boolean>

  /**
   * Replaces a value by what the function makes of it.
   *
   * @param change - Is called with the value, undefined if there is none; again if others have changed it meanwhile.
   * If it returns undefined, the entry is deleted.
   * @returns the new value.
   */
  update(key: KDefault, change: Change<VDefault>): Promise<VDefault | undefined>
  update<K = KDefault, V = VDefault>(
    key: K,
    change: Change<V>,
    options: ConditionalOptions<K, V>
  ): Promise<V | undefined>
}
