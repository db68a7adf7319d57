/** Streams that read entries from a database or write them to it, for Node and for the web. */

import type { Readable, Writable } from 'node:stream'
import type { AnyLevel, LevelLike } from '../level-like.js'
import type { Entry } from './items.js'
import { LevelReadable, LevelWritable } from './node.js'
import type { WritableEntry } from './operations.js'
import type { ReadableOptions, WritableOptions } from './options.js'
import { webReadableOf, webWritableOf } from './web.js'

export type { Entry } from './items.js'
export type { WritableEntry } from './operations.js'
export type { ReadableOptions, WritableOptions } from './options.js'

/**
 * Creates a Node stream, in object mode, of the entries of a range, each as `{ key, value }`. It reads the database as it was
 * at the time of the call. Destroying the stream closes its iterator.
 *
 * Later errors destroy the stream: STREAM_DATABASE_CLOSED if the database closes first, and those of iterators.
 *
 * @throws LEVEL_DATABASE_NOT_OPEN if the database is closed.
 * @throws STREAM_INVALID_OPTION if an option is not valid.
 */
export function readable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): Readable {
  return new LevelReadable(db as AnyLevel, 'entries', options)
}

/** Like {@link readable}, but for keys. A key that decodes to null destroys the stream with STREAM_INVALID_ITEM. */
export function readableKeys<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): Readable {
  return new LevelReadable(db as AnyLevel, 'keys', options)
}

/** Like {@link readable}, but for values. A value that decodes to null destroys the stream with STREAM_INVALID_ITEM. */
export function readableValues<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): Readable {
  return new LevelReadable(db as AnyLevel, 'values', options)
}

/**
 * Creates a Node stream, in object mode, that writes `{ key, value }`, `[key, value]` and `{ type: 'del', key }` in batches.
 * The callback of a write is called once the entry is in the database. Each batch is atomic, but the stream is not: an error
 * destroys it, and earlier batches stay written.
 *
 * Later errors are STREAM_INVALID_ENTRY, STREAM_DATABASE_CLOSED and those of `batch()`.
 *
 * @throws STREAM_INVALID_OPTION if an option is not valid.
 */
export function writable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: WritableOptions<K, V> = {}
): Writable {
  return new LevelWritable(db as AnyLevel, options)
}

/** Like {@link readable}, but returns a web stream. `cancel()` closes its iterator. */
export function webReadable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): ReadableStream<Entry<K, V>> {
  return webReadableOf(db as AnyLevel, 'entries', options)
}

/** Like {@link readableKeys}, but returns a web stream. */
export function webReadableKeys<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): ReadableStream<K> {
  return webReadableOf(db as AnyLevel, 'keys', options)
}

/** Like {@link readableValues}, but returns a web stream. */
export function webReadableValues<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): ReadableStream<V> {
  return webReadableOf(db as AnyLevel, 'values', options)
}

/**
 * Like {@link writable}, but returns a web stream. The promise of a write resolves when there is room for more; that of
 * `close()` resolves when everything is in the database.
 */
export function webWritable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: WritableOptions<K, V> = {}
): WritableStream<WritableEntry<K, V>> {
  return webWritableOf(db as AnyLevel, options)
}
