/** The current entries, and each change from then on. */

import type { Buffer } from '../buffer.js'
import { decodedBy } from '../encoded.js'
import { type EncodedRange, type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel, LevelLike } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import type { Change } from './change.js'
import { DirtyKeys } from './dirty-keys.js'
import { assertNotAborted, type FeedError, feedError, invalidOption } from './errors.js'
import { Feed } from './feed.js'
import { encodeRange, type KeyRange } from './range.js'
import { listen } from './root-events.js'
import { endable, Signal } from './signal.js'

/** The keys to watch: a single key, or a range. */
export type Watched<K = string> = { key: K } | KeyRange<K>

/** Options of {@link watch}. */
export interface WatchOptions {
  /**
   * Whether a slow reader of a feed receives only the last of several changes to a key. Without a feed, that is always the case.
   *
   * @defaultValue `false`
   */
  latest?: boolean
  /** A signal that ends the iterator with the error `FEED_ABORTED`. */
  signal?: AbortSignal
}

/** An event that a watcher yields. */
export type WatchEvent<K = string, V = string> =
  /** An entry exists, or has a new value. With `initial`, it existed at the beginning, or after a reset. */
  | { type: 'put'; key: K; value: V; initial: boolean }
  /** An entry is gone. With `initial`, the watched key did not exist at the beginning. */
  | { type: 'del'; key: K; initial: boolean }
  /** Discard the entries received so far. The current ones follow, as puts with `initial`. */
  | { type: 'reset' }

/** A key of the root that is never written: the empty key in the store of a feed, whose keys are hidden from watchers. */
const BARRIER = '!feed.watch!'

/** What a watcher needs. */
interface Watching {
  space: KeySpace
  range: EncodedRange
  /** The watched key, if a single key is watched. */
  key: Buffer | undefined
  latest: boolean
  signal: AbortSignal | undefined
}

type Events<K, V> = AsyncGenerator<WatchEvent<K, V>, void, void>

/**
 * Yields the current entries of a key or a range, then their changes. It ends without an error when the feed or the database
 * closes.
 *
 * With a feed that keeps values, it yields every change, in order. With a database alone, it reads entries again after they were
 * written: of several changes to a key in quick succession, only the last one is yielded, and sometimes twice. It first waits
 * for earlier writes, by deleting a key that does not exist.
 *
 * A reader of a range receives a `reset` and the current entries if it cannot determine what changed: without a feed, because it
 * is more than 1000 keys behind or there was a `clear`; with a feed, because the feed has removed changes that the reader had
 * not read.
 *
 * @throws FEED_INVALID_OPTION at the call if the feed keeps no values, or the range is not valid.
 * @throws FEED_NOT_SUPPORTED from the iterator of a feed if the database has no snapshots.
 */
export function watch<K, V>(
  source: LevelLike<K, V> | Feed<K, V>,
  watched: Watched<NoInfer<K>>,
  options: WatchOptions = {}
): AsyncGenerator<WatchEvent<K, V>, void, void> {
  if (!(source instanceof Feed)) {
    assertOnlyInstance(source as AnyLevel, 'watch()')
    const watching = watchingOf(keySpaceOf(source as AnyLevel), watched, options)
    return endable((stop) => watchDatabase<K, V>(watching, stop))
  }

  if (!source.hasValues) throw invalidOption('A feed without values cannot be watched: open it with values')
  const watching = watchingOf(keySpaceOf(source.db as AnyLevel), watched, options)
  return endable((stop) => watchFeed(source, watching, stop))
}

function watchingOf(space: KeySpace, watched: Watched<unknown>, options: WatchOptions): Watching {
  const { latest = false, signal } = options
  if (!('key' in watched))
    return { space, range: encodeRange(space, watched), key: undefined, latest, signal }

  const range = encodeRange(space, { gte: watched.key, lte: watched.key })
  return { space, range, key: range.gte, latest, signal }
}

async function* watchFeed<K, V>(feed: Feed<K, V>, watching: Watching, stop: AbortController): Events<K, V> {
  const { latest, signal } = watching
  let changes: AsyncGenerator<Change<K, V>, void, void> | undefined
  stop.signal.addEventListener('abort', () => changes?.return())

  for (let isFirst = true; ; isFirst = false) {
    const { space } = watching
    await feed.lastSequence()
    if (space.root.supports.explicitSnapshots !== true) {
      throw feedError('FEED_NOT_SUPPORTED', 'Watching a feed needs a database with snapshots')
    }

    if (!isFirst && watching.key === undefined) yield { type: 'reset' }
    const snapshot = space.root.snapshot()
    let after: number
    try {
      after = await feed.source.log.lastSequence({ snapshot })
      yield* entriesOf<K, V>(watching, { snapshot })
    } finally {
      await snapshot.close()
    }

    if (stop.signal.aborted) return
    try {
      changes = feed.read<K, V>({ after, live: true, latest, signal, encodedRange: watching.range })
      for await (const change of changes) yield eventOf(change)
      return
    } catch (error) {
      // The reader was too slow, so it starts over.
      if ((error as FeedError).code !== 'FEED_TRIMMED') throw error
    }
  }
}

function eventOf<K, V>({ type, key, value }: { type: 'put' | 'del'; key: K; value?: V }): WatchEvent<K, V> {
  if (type === 'put') return { type, key, value: value as V, initial: false }
  return { type, key, initial: false }
}

async function* watchDatabase<K, V>(watching: Watching, stop: AbortController): Events<K, V> {
  const { space, range, key, signal } = watching
  const only = key === undefined ? undefined : [key]
  const news = new Signal()
  const dirty = new DirtyKeys(space, range, news)
  let isClosed = false
  const unlisten = listen(space.root, 'closing', () => {
    isClosed = true
    news.raise()
  })
  const abort = () => stop.abort()
  signal?.addEventListener('abort', abort)

  try {
    assertNotAborted(signal)
    await space.root.open({ passive: true })
    let isSettled = false
    settled(space.root).then(() => {
      isSettled = true
      news.raise()
    })
    while (!isSettled && !isClosed && !stop.signal.aborted) await news.after(news.count, stop.signal)
    assertNotAborted(signal)
    // Later reads include their writes.
    dirty.take()

    for (let isFirst = true; !stop.signal.aborted && !isClosed; isFirst = false) {
      const seen = news.count
      const keys = isFirst ? undefined : (dirty.take() ?? only)
      if (keys !== undefined) {
        yield* currentOf<K, V>(watching, keys)
      } else {
        if (!isFirst) yield { type: 'reset' }
        yield* entriesOf<K, V>(watching)
      }
      await news.after(seen, stop.signal)
      assertNotAborted(signal)
    }
  } catch (error) {
    if (!isClosed || (error as FeedError).code === 'FEED_ABORTED') throw error
  } finally {
    signal?.removeEventListener('abort', abort)
    unlisten()
    dirty.close()
  }
}

/**
 * Resolves when all writes called so far have taken effect or failed. The event `write` may miss them: it only reports writes
 * that are called while someone listens. Deleting a key that does not exist takes its place after them.
 */
async function settled(root: AnyLevel): Promise<void> {
  await root.del(BARRIER, { keyEncoding: 'utf8' }).catch(() => {})
}

/** Yields the entries that exist, as events. */
async function* entriesOf<K, V>({ space, range, key }: Watching, options?: object): Events<K, V> {
  let isEmpty = true
  for await (const [found, value] of space.entriesWithin(range, options)) {
    if (AuxiliaryStore.holds(space, found) || (await space.isHidden(found))) continue
    isEmpty = false
    yield { type: 'put', ...decoded<K, V>(space, found, value), initial: true }
  }

  if (key !== undefined && isEmpty) yield { type: 'del', key: keyOf<K>(space, key), initial: true }
}

/** Yields the stored values of some keys, as events. */
async function* currentOf<K, V>({ space }: Watching, keys: readonly Buffer[]): Events<K, V> {
  for (const key of keys) {
    const value = await space.read(key)
    if (value === undefined || (await space.isHidden(key)))
      yield { type: 'del', key: keyOf<K>(space, key), initial: false }
    else yield { type: 'put', ...decoded<K, V>(space, key, value), initial: false }
  }
}

function decoded<K, V>(space: KeySpace, key: Buffer, value: Buffer): { key: K; value: V } {
  return { key: keyOf(space, key), value: decodedBy(space.valueEncoding(), value) as V }
}

function keyOf<K>(space: KeySpace, key: Buffer): K {
  return decodedBy(space.keyEncoding(), key) as K
}
