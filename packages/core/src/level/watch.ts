/** The types of `watch()`: the writes to a store that others use as well. A back-end that can report them offers the method. */

import type { AbstractLevel, Transcoder } from 'abstract-level'

/** The encodings of a database or sublevel. */
// biome-ignore lint/suspicious/noExplicitAny: how it keeps its data does not matter
export type Encodings<K, V> = Pick<AbstractLevel<any, K, V>, 'keyEncoding' | 'valueEncoding'>

/** Bounds on keys, and the encodings of keys and values. */
export interface KeyOptions<K, V> {
  /** The first key, included. */
  readonly gte?: NoInfer<K>
  /** The first key, excluded. */
  readonly gt?: NoInfer<K>
  /** The last key, included. */
  readonly lte?: NoInfer<K>
  /** The last key, excluded. */
  readonly lt?: NoInfer<K>
  /** The encoding of keys. By default, that of the database, or of the sublevel if there is one. */
  readonly keyEncoding?: string | Transcoder.PartialEncoding<K>
  /** The encoding of values. By default, that of the database, or of the sublevel if there is one. */
  readonly valueEncoding?: string | Transcoder.PartialDecoder<V>
}

/** Options of `watch()`. */
export interface WatchOptions<K, V> extends KeyOptions<K, V> {
  /** A sublevel of the database: only its keys are watched. The range and the encodings are those of its keys. */
  readonly sublevel?: Encodings<K, V>
  /** Ends the iterator with an error LEVEL_ABORTED. */
  readonly signal?: AbortSignal
}

/** An operation that took effect. */
export type WatchedOperation<K = string, V = string> =
  | { readonly type: 'put'; readonly key: K; readonly value: V }
  | { readonly type: 'del'; readonly key: K }
  | ClearedRange<K>

/** A range of keys was cleared. */
export interface ClearedRange<K = string> {
  readonly type: 'clear'
  /** The first key of the range, encoded. Without it, the range has no beginning. A bound need not be a key that can be decoded. */
  readonly gte: Uint8Array | undefined
  /** The first key after the range, encoded. Without it, the range has no end. */
  readonly lt: Uint8Array | undefined
  /** Whether only some of these keys were deleted, because of a limit or a snapshot. Read again to learn which. */
  readonly isPartial: boolean
  /** Whether a key is within the range. */
  includes(key: K): boolean
}

/** What `watch()` returns: lists of the operations that were written together. */
export type WatchedWrites<K, V> = EventIterator<Array<WatchedOperation<K, V>>>

/** An iterator over events. It returns no value at its end. */
// Before TypeScript 5.6, AsyncIterableIterator has no parameter for that.
export interface EventIterator<Item> extends AsyncIterableIterator<Item> {
  /** Waits for the next item. */
  next(): Promise<IteratorResult<Item, undefined>>
  /** Ends the iterator. */
  return(): Promise<IteratorResult<Item, undefined>>
}
