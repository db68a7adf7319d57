/** Streams of Node and of the web, of the entries of a database and into one. */

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
 * The entries of a range, `{ key, value }` each, as a stream of Node in object mode. It shows the database as it was at
 * the call. Destroying it closes its iterator.
 *
 * @throws LEVEL_DATABASE_NOT_OPEN if the database is closed, STREAM_INVALID_OPTION. Later errors destroy the stream:
 * STREAM_DATABASE_CLOSED if the database closes first, and those of iterators.
 */
export function readable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): Readable {
  return new LevelReadable(db as AnyLevel, 'entries', options)
}

/** As {@link readable}, but of keys. A key that is decoded to null destroys it with STREAM_INVALID_ITEM. */
export function readableKeys<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): Readable {
  return new LevelReadable(db as AnyLevel, 'keys', options)
}

/** As {@link readable}, but of values. A value that is decoded to null destroys it with STREAM_INVALID_ITEM. */
export function readableValues<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): Readable {
  return new LevelReadable(db as AnyLevel, 'values', options)
}

/**
 * Writes `{ key, value }`, `[key, value]` and `{ type: 'del', key }`, in batches, as a stream of Node in object mode. The
 * callback of a write tells that it is in the database. Each batch is atomic, the stream is not: after an error, which
 * destroys it, the batches before are written.
 *
 * @throws STREAM_INVALID_OPTION. Later errors: STREAM_INVALID_ENTRY, STREAM_DATABASE_CLOSED, and those of `batch()`.
 */
export function writable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: WritableOptions<K, V> = {}
): Writable {
  return new LevelWritable(db as AnyLevel, options)
}

/** As {@link readable}, but a web stream; `cancel()` closes its iterator. */
export function webReadable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): ReadableStream<Entry<K, V>> {
  return webReadableOf(db as AnyLevel, 'entries', options)
}

/** As {@link readableKeys}, but a web stream. */
export function webReadableKeys<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): ReadableStream<K> {
  return webReadableOf(db as AnyLevel, 'keys', options)
}

/** As {@link readableValues}, but a web stream. */
export function webReadableValues<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: ReadableOptions<K, V> = {}
): ReadableStream<V> {
  return webReadableOf(db as AnyLevel, 'values', options)
}

/**
 * As {@link writable}, but a web stream. The promise of a write tells that there is room for more, that of `close()` that
 * all is in the database.
 */
export function webWritable<KD, VD, K = KD, V = VD>(
  db: LevelLike<KD, VD>,
  options: WritableOptions<K, V> = {}
): WritableStream<WritableEntry<K, V>> {
  return webWritableOf(db as AnyLevel, options)
}
