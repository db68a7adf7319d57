/** The types of `watch()`: the writes to a store that others use as well. A back-end that can report them offers the method. */

import type { AbstractLevel, Transcoder } from 'abstract-level'

/** The part of a database or sublevel that `watch()` uses: its encodings. */
// biome-ignore lint/suspicious/noExplicitAny: how it keeps its data does not matter
export type Encodings<K, V> = Pick<AbstractLevel<any, K, V>, 'keyEncoding' | 'valueEncoding'>

/** Bounds on keys, and the encodings of keys and values. */
export interface KeyOptions<K, V> {
  /** The lower bound, inclusive. */
  readonly gte?: NoInfer<K>
  /** The lower bound, exclusive. */
  readonly gt?: NoInfer<K>
  /** The upper bound, inclusive. */
  readonly lte?: NoInfer<K>
  /** The upper bound, exclusive. */
  readonly lt?: NoInfer<K>
  /** The encoding of keys. By default, that of the database, or of the sublevel if there is one. */
  readonly keyEncoding?: string | Transcoder.PartialEncoding<K>
  /** The encoding of values. By default, that of the database, or of the sublevel if there is one. */
  readonly valueEncoding?: string | Transcoder.PartialDecoder<V>
}

/** Options of `watch()`. */
export interface WatchOptions<K, V> extends KeyOptions<K, V> {
  /**
   * The sublevel whose keys are watched. The range and the encodings then apply to its keys. By default, the whole database is
   * watched.
   */
  readonly sublevel?: Encodings<K, V>
  /** A signal that ends the iterator with the error LEVEL_ABORTED. */
  readonly signal?: AbortSignal
}

/** An operation that took effect. */
export type WatchedOperation<K = string, V = string> =
  | { readonly type: 'put'; readonly key: K; readonly value: V }
  | { readonly type: 'del'; readonly key: K }
  | ClearedRange<K>

/** A range of keys that was cleared. */
export interface ClearedRange<K = string> {
  readonly type: 'clear'
  /**
   * The first key of the range, encoded; undefined if the range has no lower bound. The bytes need not be a key that can be
   * decoded.
   */
  readonly gte: Uint8Array | undefined
  /** The first key after the range, encoded; undefined if the range has no upper bound. */
  readonly lt: Uint8Array | undefined
  /** Whether only some of these keys were deleted, because of a limit or a snapshot. Read the range again to find out which. */
  readonly isPartial: boolean
  /** Returns whether a key is within the range. */
  includes(key: K): boolean
}

/** The result of `watch()`: an iterator over lists of operations that were written together. */
export type WatchedWrites<K, V> = EventIterator<Array<WatchedOperation<K, V>>>

/** An iterator over events. It returns no value at its end. */
// Before TypeScript 5.6, AsyncIterableIterator has no parameter for that.
export interface EventIterator<Item> extends AsyncIterableIterator<Item> {
  /** Waits for the next item. */
  next(): Promise<IteratorResult<Item, undefined>>
  /** Ends the iterator. */
  return(): Promise<IteratorResult<Item, undefined>>
}
