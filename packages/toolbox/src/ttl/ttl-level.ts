import { type AbstractChainedBatch, AbstractLevel, type AbstractSnapshot } from 'abstract-level'
import { bytesOf, type Encoded } from '../encoded.js'
import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { Clock } from './clock.js'
import { type Due, ExpiryRecords, type RecordRange, textOf } from './expiry-records.js'
import { Gate } from './gate.js'
import { LiveIterator, LiveKeyIterator, LiveValueIterator, type PrivateIteratorOptions } from './iterators.js'
import type { LiveSource } from './live-entries.js'
import { LiveReads, type PrivateReadOptions } from './live-reads.js'
import { manifestOf } from './manifest.js'
import {
  assertInterval,
  assertTtl,
  type ExpiryOptions,
  type TtlBatchOperation,
  type TtlBatchOptions,
  type TtlOptions,
  type TtlPutOptions
} from './options.js'
import { ownKeys } from './own-keys.js'
import { Sweeper } from './sweeper.js'
import { WriteHook } from './write-hook.js'

const DEFAULT_CHECK_INTERVAL_MS = 1000

interface PrivateOperation extends ExpiryOptions {
  type: 'put' | 'del'
  key: Encoded
  keyEncoding: string
}

/** Databases that have a {@link TtlLevel} which is not closed. */
const taken = new WeakSet<AnyLevel>()

/**
 * A view of a database whose entries expire. What expired is never returned, and removed in the background. The entries
 * lie in the database as they are; when they expire is kept beside them.
 */
export class TtlLevel<KDefault = string, VDefault = string> extends AbstractLevel<
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  /** The database that the entries lie in. */
  readonly source: AnyLevel
  readonly #live: LiveSource
  readonly #reads: LiveReads
  readonly #records: ExpiryRecords
  readonly #clock: Clock
  readonly #hook: WriteHook
  readonly #gate = new Gate()
  readonly #sweeper: Sweeper

  /** @internal */
  constructor(db: AnyLevel, options: TtlOptions<KDefault, VDefault>) {
    const {
      defaultTtlMs,
      checkIntervalMs = DEFAULT_CHECK_INTERVAL_MS,
      now = Date.now,
      onError,
      ...rest
    } = options
    if (defaultTtlMs !== undefined) assertTtl(defaultTtlMs)
    assertInterval(checkIntervalMs)
    assertOnlyInstance(db, 'ttl()')
    const { keyEncoding = db.keyEncoding(), valueEncoding = db.valueEncoding() } = rest
    super(manifestOf(db), { ...rest, keyEncoding, valueEncoding } as never)

    this.source = db
    this.#clock = new Clock(now)
    this.#records = new ExpiryRecords(db)
    this.#live = { db, records: this.#records, clock: this.#clock }
    this.#reads = new LiveReads(this.#live)
    this.#hook = new WriteHook(db, this.#records, this.#clock, defaultTtlMs)
    this.#sweeper = new Sweeper(this.#swept(), checkIntervalMs, onError)
  }

  /**
   * Removes what expired until now, in batches, as happens by itself every `checkIntervalMs`. Returns how many entries
   * it removed.
   *
   * @throws LEVEL_HOOK_ERROR if a prewrite hook refused to let an entry be deleted; the others are removed all the same.
   */
  async removeExpired(): Promise<number> {
    if (this.status === 'opening') return this.deferAsync(() => this.removeExpired())
    this.#assertOpen()
    return this.#sweeper.sweep()
  }

  /**
   * When an entry expires, in milliseconds since 1970; `Infinity` if it does not; undefined if there is no such entry,
   * or it has expired.
   */
  expiresAt(key: KDefault): Promise<number | undefined>
  expiresAt<K = KDefault>(key: K, options: { keyEncoding?: string }): Promise<number | undefined>
  async expiresAt(key: unknown, options: { keyEncoding?: string } = {}): Promise<number | undefined> {
    if (this.status === 'opening') return this.deferAsync(() => this.expiresAt(key as KDefault, options))
    this.#assertOpen()
    const { encoded, keyEncoding } = this.#encode(key, options)
    return this.#reads.expiresAt(encoded, { keyEncoding })
  }

  /**
   * Gives an entry another time to live, from now, without writing its value; `Infinity` lets it stay. Returns whether
   * there was such an entry.
   *
   * @param ttlMs - In milliseconds, more than 0.
   * @throws TTL_INVALID
   */
  touch(key: KDefault, ttlMs: number): Promise<boolean>
  touch<K = KDefault>(key: K, ttlMs: number, options: { keyEncoding?: string }): Promise<boolean>
  async touch(key: unknown, ttlMs: number, options: { keyEncoding?: string } = {}): Promise<boolean> {
    if (this.status === 'opening') return this.deferAsync(() => this.touch(key as KDefault, ttlMs, options))
    this.#assertOpen()
    assertTtl(ttlMs)
    const { encoded, keyEncoding } = this.#encode(key, options)

    return this.#gate.alone(async () => {
      const previous = await this.#reads.expiresAt(encoded, { keyEncoding })
      if (previous === undefined) return false

      const known = previous === Infinity ? undefined : previous
      await this.#records.write(this.#records.set(bytesOf(encoded), this.#clock.expiryAfter(ttlMs), known))
      return true
    })
  }

  // ---- what abstract-level calls ----

  /** @internal */
  async _open(): Promise<void> {
    await this.source.open({ passive: true })
    this.#take()

    try {
      await this.#records.open()
    } catch (error) {
      this.#release()
      throw error
    }

    // Closes this one when the database is closed.
    this.source.attachResource(this)
    this.#sweeper.start()
  }

  /** @internal */
  async _close(): Promise<void> {
    await this.#sweeper.stop()
    this.#release()
    this.source.detachResource(this)
    await this.#records.close()
  }

  /** @internal */
  _get(key: Encoded, options: PrivateReadOptions): Promise<unknown> {
    return this.#reads.get(key, options)
  }

  /** @internal */
  _getSync(key: Encoded, options: PrivateReadOptions): unknown {
    return this.#reads.getSync(key, options)
  }

  /** @internal */
  _getMany(keys: Encoded[], options: PrivateReadOptions): Promise<unknown[]> {
    return this.#reads.getMany(keys, options)
  }

  /** @internal */
  _has(key: Encoded, options: PrivateReadOptions): Promise<boolean> {
    return this.#reads.has(key, options)
  }

  /** @internal */
  _hasMany(keys: Encoded[], options: PrivateReadOptions): Promise<boolean[]> {
    return this.#reads.hasMany(keys, options)
  }

  /** @internal */
  async _put(key: Encoded, value: unknown, options: ExpiryOptions & object): Promise<void> {
    if (options.ttlMs !== undefined) assertTtl(options.ttlMs)
    return this.#gate.together(() => this.source.put(key, value, options as object))
  }

  /** @internal */
  _del(key: Encoded, options: object): Promise<void> {
    return this.#gate.together(() => this.source.del(key as never, options))
  }

  /** @internal */
  async _batch(operations: PrivateOperation[], options: object): Promise<void> {
    for (const { ttlMs } of operations) if (ttlMs !== undefined) assertTtl(ttlMs)
    const write = (): Promise<void> => this.source.batch(operations as never, options as never)
    // A removal is alone already.
    return this.#hook.isRemoving ? write() : this.#gate.together(write)
  }

  /** @internal */
  async _clear(options: RecordRange): Promise<void> {
    const keyEncoding = options.keyEncoding === 'buffer' ? 'buffer' : 'view'
    for await (const keys of ownKeys(this.#live, options)) {
      const operations = keys.map((key) => ({ type: 'del' as const, key, keyEncoding }))
      await this._batch(operations, {})
    }
  }

  /** @internal */
  _iterator(options: PrivateIteratorOptions): LiveIterator {
    return new LiveIterator(this as unknown as AnyLevel, this.#live, options)
  }

  /** @internal */
  _keys(options: PrivateIteratorOptions): LiveKeyIterator {
    return new LiveKeyIterator(this as unknown as AnyLevel, this.#live, options)
  }

  /** @internal */
  _values(options: PrivateIteratorOptions): LiveValueIterator {
    return new LiveValueIterator(this as unknown as AnyLevel, this.#live, options)
  }

  /** @internal */
  _snapshot(options: object): AbstractSnapshot {
    return this.source.snapshot(options)
  }

  // ---- helpers ----

  #take(): void {
    if (taken.has(this.source)) {
      throw codedError('TTL_IN_USE', 'The database has a view by ttl() already: close that first')
    }

    taken.add(this.source)
    this.#hook.attach()
  }

  #release(): void {
    this.#hook.detach()
    taken.delete(this.source)
  }

  #swept(): ConstructorParameters<typeof Sweeper>[0] {
    return {
      isOpen: () => this.status === 'open',
      due: (after, limit) => this.#records.dueUntil(this.#clock.now(), after, limit),
      remove: (due) => this.#gate.alone(() => this.#remove(due))
    }
  }

  async #remove(due: Due[]): Promise<number> {
    const keyEncoding = 'view'
    const expiries = await this.#records.getMany(
      due.map(({ key }) => key),
      { keyEncoding }
    )
    const expired = due.filter(({ expiry }, index) => expiries[index] === expiry)
    const deletions = expired.map(({ key }) => ({ type: 'del', key, keyEncoding }))
    const lines = due.map((line) => this.#records.forget(line))
    const removing = new Map(expired.map(({ key, expiry }) => [textOf(key), expiry]))

    await this.#hook.removing(removing, () => this.batch([...deletions, ...lines] as never))
    return expired.length
  }

  #encode(key: unknown, options: { keyEncoding?: string }): { encoded: Encoded; keyEncoding: string } {
    if (key === null || key === undefined) {
      throw codedError('LEVEL_INVALID_KEY', 'Key cannot be null or undefined')
    }

    const encoding = this.keyEncoding(options.keyEncoding as 'utf8')
    return { encoded: encoding.encode(key as string), keyEncoding: encoding.format }
  }

  #assertOpen(): void {
    if (this.status !== 'open') throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
  }
}

// The types of what abstract-level implements, with the options that this adds.
export interface TtlLevel<KDefault, VDefault> {
  put(key: KDefault, value: VDefault): Promise<void>
  put<K = KDefault, V = VDefault>(key: K, value: V, options: TtlPutOptions<K, V>): Promise<void>

  batch(operations: Array<TtlBatchOperation<this, KDefault, VDefault>>): Promise<void>
  batch<K = KDefault, V = VDefault>(
    operations: Array<TtlBatchOperation<this, K, V>>,
    options: TtlBatchOptions<K, V>
  ): Promise<void>
  batch(): AbstractChainedBatch<this, KDefault, VDefault>
}
