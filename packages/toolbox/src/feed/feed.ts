/** The change feed of a database or sublevel. */

import type { Transcoder } from 'abstract-level'
import type { Buffer } from '../buffer.js'
import type { Operation, PrewriteBatch } from '../hooks.js'
import { type EncodedRange, type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel, LevelLike } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { AuxiliaryStore } from './auxiliary-store.js'
import type { Change } from './change.js'
import { ChangeLog } from './change-log.js'
import { assertName, feedError, invalidOption } from './errors.js'
import { OldValues } from './old-values.js'
import { encodeRange, isWithin, type KeyRange } from './range.js'
import { type Reading, readChanges, type Source } from './reader.js'
import { checkedLimits, Retention, type RetentionLimits } from './retention.js'
import { listen } from './root-events.js'
import { Signal } from './signal.js'

/** Options of {@link feed}. */
export interface FeedOptions<K = string> {
  /**
   * The name under which changes are stored: letters, digits, `_` and `-`.
   *
   * @defaultValue `'changes'`
   */
  name?: string
  /** The keys whose changes are recorded. By default, all. */
  range?: KeyRange<K>
  /**
   * Whether changes contain the values of puts.
   *
   * @defaultValue `true`
   */
  values?: boolean
  /**
   * Whether changes also contain the previous values. This costs one read per write.
   *
   * @defaultValue `false`
   */
  oldValues?: boolean
  /** Limits on what is retained. By default, everything is retained. */
  retention?: RetentionLimits
}

/** Options of {@link Feed.read}. */
export interface ReadChangesOptions<K = string, V = string> extends KeyRange<NoInfer<K>> {
  /**
   * The number of the change after which reading begins; 0 means before the very first change. By default, reading begins with
   * the oldest retained change.
   */
  after?: number
  /**
   * Whether to wait for new changes once the stored ones have been read.
   *
   * @defaultValue `false`
   */
  live?: boolean
  /** The maximum number of changes to read. By default, there is no limit. */
  limit?: number
  /**
   * Whether to skip a change if a later one to the same key is already stored when the reader reaches it. This suits readers
   * that need the current state, not its history. With this option, `first` and `last` do not delimit batches.
   *
   * @defaultValue `false`
   */
  latest?: boolean
  /** The encoding of keys. By default, that of the database. */
  keyEncoding?: string | Transcoder.PartialEncoding<K> | undefined
  /** The encoding of values. By default, that of the database. */
  valueEncoding?: string | Transcoder.PartialDecoder<V> | undefined
  /** A signal that ends the reader with the error `FEED_ABORTED`. */
  signal?: AbortSignal
  /**
   * Replaces the range.
   *
   * @internal
   */
  encodedRange?: EncodedRange
}

/** Records the changes of a database or sublevel in order, and reads them. It is created by {@link feed}. */
export class Feed<K = string, V = string> {
  readonly #space: KeySpace
  readonly #range: EncodedRange
  readonly #hasValues: boolean
  readonly #oldValues: OldValues | undefined
  readonly #log: ChangeLog
  readonly #retention: Retention
  readonly #news = new Signal()
  readonly #hook = (operation: Operation, batch: PrewriteBatch) => this.#record(operation, batch)
  readonly #unlisten: Array<() => void>
  #followers = 0
  #unfollow = () => {}
  #closings = 0
  #isClosed = false

  /** @internal */
  constructor(db: AnyLevel, options: FeedOptions<K>) {
    const { name = 'changes', range, values = true, oldValues = false, retention } = options
    assertName(name)
    assertOnlyInstance(db, 'feed()')
    const limits = checkedLimits(retention)
    this.#space = keySpaceOf(db)
    this.#range = encodeRange(this.#space, range)
    this.#hasValues = values
    this.#log = new ChangeLog(this.#space, name)
    this.#oldValues = oldValues
      ? new OldValues((key) => this.#space.storedValue(key), this.#log.order.showsOwnBatch)
      : undefined
    this.#retention = new Retention(this.#log, this.#space.root, limits)
    this.#space.addHook(this.#hook, oldValues ? (operation) => this.#askFor(operation) : undefined)
    this.#unlisten = [
      listen(this.#space.root, 'open', () => this.#start()),
      listen(this.#space.root, 'closing', () => this.#stop()),
      listen(this.#space.root, 'closed', () => this.#log.unload())
    ]
    if (this.#space.root.status === 'open') this.#start()
  }

  /** The database or sublevel whose changes are recorded. */
  get db(): LevelLike<K, V> {
    return this.#space.given
  }

  /** Whether changes contain the values of puts. */
  get hasValues(): boolean {
    return this.#hasValues
  }

  /**
   * What readers of changes need.
   *
   * @internal
   */
  get source(): Source {
    const feed = this
    return {
      log: this.#log,
      news: this.#news,
      follow: () => feed.#follow(),
      get closings() {
        return feed.#closings
      }
    }
  }

  /**
   * Reads the changes in order: first those that are stored, then, with `live`, new ones. It reads pages of at most 256 changes
   * and about 256 KiB, so a slow reader holds no more than that.
   *
   * When the feed or the database closes, a live reader ends without an error, and any other ends with `FEED_CLOSED`.
   *
   * @throws FEED_INVALID_OPTION at the call if an option is not valid.
   * @throws FEED_TRIMMED from the iterator if changes after `after` have been removed, even while it reads.
   * @throws FEED_AHEAD from the iterator if the feed has not reached `after`.
   * @throws FEED_ABORTED from the iterator once `signal` is aborted.
   */
  read(): AsyncGenerator<Change<K, V>, void, void>
  read<KRead = K, VRead = V>(
    options: ReadChangesOptions<KRead, VRead>
  ): AsyncGenerator<Change<KRead, VRead>, void, void>
  read(
    options: ReadChangesOptions<unknown, unknown> = {}
  ): AsyncGenerator<Change<unknown, unknown>, void, void> {
    this.#assertOpen()
    return readChanges(this.source, this.#reading(options))
  }

  /**
   * Returns the number of the last stored change. If none is stored, it is the number of the last removed change, or 0 before
   * the first change.
   */
  async lastSequence(): Promise<number> {
    this.#assertOpen()
    await this.#log.load()
    return this.#log.lastSequence()
  }

  /** Returns the number from which on changes are retained: 1 until some are removed. */
  async oldestSequence(): Promise<number> {
    this.#assertOpen()
    await this.#log.load()
    return this.#log.trimmed + 1
  }

  /**
   * Removes the changes that exceed the limits of `retention` now. This also happens automatically, some time after a limit is
   * exceeded.
   *
   * @returns The number of changes removed.
   */
  async trim(): Promise<number> {
    this.#assertOpen()
    await this.#log.load()
    return this.#retention.trim()
  }

  /** Stops recording, and ends the readers. Stored changes are kept. The database may be open or closed. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#space.deleteHook(this.#hook)
    for (const unlisten of this.#unlisten) unlisten()
    await this.#stop()
    if (this.#space.root.status === 'open') await this.#log.order.settle()
    this.#log.release()
  }

  /** Closes the feed, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Reads what {@link #record} will read. */
  #askFor(operation: Operation): void {
    const key = this.#recordedKey(operation)
    if (key !== undefined) this.#space.storedValue(key)
  }

  /** The key of an operation, if its change is to be recorded. */
  #recordedKey(operation: Operation): Buffer | undefined {
    const key = this.#space.keyOf(operation)
    if (key === undefined || !isWithin(this.#range, key) || AuxiliaryStore.holds(this.#space, key)) return
    return key
  }

  #record(operation: Operation, batch: PrewriteBatch): void {
    const key = this.#recordedKey(operation)
    if (key === undefined) return

    const { type } = operation
    const isPut = type === 'put'
    const needsValue = isPut && (this.#hasValues || this.#oldValues !== undefined)
    const value = needsValue ? this.#space.valueOf(operation) : undefined
    const oldValue = this.#oldValues?.get(batch, key)
    this.#oldValues?.set(batch, key, value ?? null)
    this.#log.append(batch, { type, key, value: this.#hasValues ? value : undefined, oldValue })
    this.#retention.onAppended(batch)
  }

  #reading(options: ReadChangesOptions<unknown, unknown>): Reading {
    const { after, live = false, latest = false, limit = Number.POSITIVE_INFINITY } = options
    const { keyEncoding, valueEncoding, signal } = options
    if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) {
      throw invalidOption("'after' must be a sequence number or 0")
    }
    if (!(limit >= 0)) throw invalidOption("'limit' must be 0 or more")

    const space = this.#space
    const encodings = { key: space.keyEncoding(keyEncoding), value: space.valueEncoding(valueEncoding) }
    const range = options.encodedRange ?? encodeRange(space, options, keyEncoding)
    return { after, live, latest, limit, range, encodings, signal }
  }

  #follow(): () => void {
    if (this.#followers++ === 0) this.#unfollow = this.#log.order.onWritten(() => this.#news.raise())
    let follows = true

    return () => {
      if (follows && --this.#followers === 0) this.#unfollow()
      follows = false
    }
  }

  #start(): void {
    const start = () => {
      if (!this.#isClosed) this.#retention.start()
    }
    // If the database closes meanwhile, this is done when it opens again.
    this.#log.load().then(start, () => {})
  }

  async #stop(): Promise<void> {
    this.#closings++
    this.#news.raise()
    await this.#retention.stop()
  }

  #assertOpen(): void {
    if (this.#isClosed) throw feedError('FEED_CLOSED', 'The feed is closed')
  }
}

/**
 * Records every put and del of a database or sublevel under increasing numbers. A change is written in the same batch as the
 * write itself, so it is just as durable.
 *
 * The feed records from this call until `close`, even if the database is closed and opened again. Call it each time the program
 * starts, before anything is written: earlier writes are missing from the feed.
 *
 * @throws FEED_INVALID_OPTION if an option is not valid.
 * @throws FEED_NOT_SUPPORTED if the database's hooks cannot read, or the database cannot store keys of arbitrary bytes in byte
 * order.
 * @throws FEED_IN_USE if a feed of this name is open on the same keys.
 */
export function feed<K, V>(db: LevelLike<K, V>, options: FeedOptions<NoInfer<K>> = {}): Feed<K, V> {
  return new Feed<K, V>(db as AnyLevel, options)
}
