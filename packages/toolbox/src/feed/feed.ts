/** The change feed of a database or sublevel. */

import type { Operation, PrewriteBatch } from '../hooks.js'
import { type AnyDatabase, type EncodedRange, type KeySpace, keySpaceOf } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
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
export interface FeedOptions {
  /** The name under which changes are stored: letters, digits, `_` and `-`. Default `'changes'`. */
  name?: string
  /** Only changes of these keys are recorded. Default: all. */
  range?: KeyRange
  /** Whether changes hold the values of puts. Default true. */
  values?: boolean
  /** Whether changes hold the values from before, too. It costs a read a write. Default false. */
  oldValues?: boolean
  /** What is retained. Default: everything. */
  retention?: RetentionLimits
}

/** Options of {@link Feed.read}. */
export interface ReadChangesOptions extends KeyRange {
  /**
   * Begin after the change of this number; 0 is before the first of all. Default: begin with the oldest that
   * is retained.
   */
  after?: number
  /** Whether to wait for changes to come once the stored ones are read. Default false. */
  live?: boolean
  /** End after so many changes. Default: no limit. */
  limit?: number
  /**
   * Whether to leave out changes that a later one of the same key follows, as far as they are stored when the
   * reader comes to them: for readers that want to know what is, not what was. `first` and `last` do not tell
   * batches then. Default false.
   */
  latest?: boolean
  /** The encoding of keys. Default: that of the database. */
  keyEncoding?: unknown
  /** The encoding of values. Default: that of the database. */
  valueEncoding?: unknown
  /** Aborting it ends the reader with an error `FEED_ABORTED`. */
  signal?: AbortSignal
  /** Instead of a range. @internal */
  encodedRange?: EncodedRange
}

/** Records the changes of a database or sublevel in order, and reads them. Made by {@link feed}. */
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
  constructor(db: AnyDatabase, options: FeedOptions) {
    const { name = 'changes', range, values = true, oldValues = false, retention } = options
    assertName(name)
    assertOnlyInstance(db as AnyLevel, 'feed()')
    const limits = checkedLimits(retention)
    this.#space = keySpaceOf(db)
    this.#range = encodeRange(this.#space, range)
    this.#hasValues = values
    this.#log = new ChangeLog(this.#space, name)
    this.#oldValues = oldValues
      ? new OldValues((key) => this.#space.storedValue(key), this.#log.order.showsOwnBatch)
      : undefined
    this.#retention = new Retention(this.#log, this.#space.root, limits)
    this.#space.addHook(this.#hook)
    this.#unlisten = [
      listen(this.#space.root, 'open', () => this.#start()),
      listen(this.#space.root, 'closing', () => this.#stop()),
      listen(this.#space.root, 'closed', () => this.#log.unload())
    ]
    if (this.#space.root.status === 'open') this.#start()
  }

  /** The database or sublevel. */
  get db(): AnyDatabase {
    return this.#space.given
  }

  /** Whether changes hold the values of puts. */
  get hasValues(): boolean {
    return this.#hasValues
  }

  /** What readers of changes need. @internal */
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
   * The changes in order: first those that are stored, then, with `live`, those to come. They are read by
   * pages of at most 256 changes and about 256 KiB, so that a slow reader holds no more than that.
   *
   * A live reader ends without an error when the feed or the database closes; one that is not live with
   * `FEED_CLOSED`.
   *
   * @throws FEED_INVALID_OPTION at the call.
   * @throws FEED_TRIMMED from the iterator if changes after `after` are removed, also while it reads.
   * @throws FEED_AHEAD from the iterator if the feed has not come to `after`.
   * @throws FEED_ABORTED from the iterator once `signal` is aborted.
   */
  read(options?: ReadChangesOptions): AsyncGenerator<Change<K, V>, void, void>
  read<KRead = K, VRead = V>(options?: ReadChangesOptions): AsyncGenerator<Change<KRead, VRead>, void, void>
  read(options: ReadChangesOptions = {}): AsyncGenerator<Change<unknown, unknown>, void, void> {
    this.#assertOpen()
    return readChanges(this.source, this.#reading(options))
  }

  /**
   * The number of the last change that is stored; of the last that was removed if there is none; 0 before the
   * first.
   */
  async lastSequence(): Promise<number> {
    this.#assertOpen()
    await this.#log.load()
    return this.#log.lastSequence()
  }

  /** The number from which on changes are retained. 1 until some are removed. */
  async oldestSequence(): Promise<number> {
    this.#assertOpen()
    await this.#log.load()
    return this.#log.trimmed + 1
  }

  /**
   * Removes what is beyond the limits of `retention` now. It happens by itself, some time after a limit is
   * passed.
   *
   * @returns How many changes were removed.
   */
  async trim(): Promise<number> {
    this.#assertOpen()
    await this.#log.load()
    return this.#retention.trim()
  }

  /** Records no more, and ends the readers. What is stored stays. The database may be open or closed. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#space.deleteHook(this.#hook)
    for (const unlisten of this.#unlisten) unlisten()
    await this.#stop()
    if (this.#space.root.status === 'open') await this.#log.order.settle()
    this.#log.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #record(operation: Operation, batch: PrewriteBatch): void {
    const key = this.#space.keyOf(operation)
    if (key === undefined || !isWithin(this.#range, key) || AuxiliaryStore.holds(this.#space, key)) return

    const { type } = operation
    const isPut = type === 'put'
    const needsValue = isPut && (this.#hasValues || this.#oldValues !== undefined)
    const value = needsValue ? this.#space.valueOf(operation) : undefined
    const oldValue = this.#oldValues?.get(batch, key)
    this.#oldValues?.set(batch, key, value ?? null)
    this.#log.append(batch, { type, key, value: this.#hasValues ? value : undefined, oldValue })
    this.#retention.onAppended(batch)
  }

  #reading(options: ReadChangesOptions): Reading {
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
    // If the database closes meanwhile, it is done when that opens again.
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
 * Records every put and del of a database or sublevel, in the same batch as the write itself, under
 * increasing numbers.
 *
 * It records from the call on until `close`, also when the database is closed and opened again. It is to be
 * called each time the program starts, before it writes: what is written meanwhile is not in the feed.
 *
 * @throws FEED_INVALID_OPTION, FEED_NOT_SUPPORTED; FEED_IN_USE if a feed of this name is open on the same
 *   keys.
 */
export function feed<K = string, V = string>(db: AnyDatabase, options: FeedOptions = {}): Feed<K, V> {
  return new Feed<K, V>(db, options)
}
