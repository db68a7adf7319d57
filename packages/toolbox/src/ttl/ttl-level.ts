import { type AbstractChainedBatch, AbstractLevel, type AbstractSnapshot } from 'abstract-level'
import type { Buffer } from '../buffer.js'
import { bytesOf, type Encoded, type Encoding } from '../encoded.js'
import { codedError } from '../errors.js'
import { keyEncodingOf, readsAtOnce, valueEncodingOf } from '../hooks.js'
import type { AnyLevel } from '../level-like.js'
import { assertOnlyInstance } from '../only-instance.js'
import { closeView, openView } from '../open-views.js'
import { addView } from '../view.js'
import { Clock } from './clock.js'
import { type Due, ExpiryRecords, type RecordRange } from './expiry-records.js'
import { Gate } from './gate.js'
import { LiveIterator, LiveKeyIterator, LiveValueIterator, type PrivateIteratorOptions } from './iterators.js'
import type { LiveSource } from './live-entries.js'
import { LiveReads, type PrivateReadOptions } from './live-reads.js'
import { manifestOf } from './manifest.js'
import { namingBatch, writeNamed } from './named-values.js'
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
import { TtlSublevel } from './ttl-sublevel.js'
import { removalOf, WriteHook } from './write-hook.js'

const DEFAULT_CHECK_INTERVAL_MS = 1000

interface PrivateOperation extends ExpiryOptions {
  type: 'put' | 'del'
  key: Encoded
  keyEncoding: string
}

/**
 * A view of a database whose entries expire. Expired entries are never returned, and are removed in the background. The stored
 * entries are unchanged; their expiries are stored next to them.
 */
export class TtlLevel<KDefault = string, VDefault = string> extends AbstractLevel<
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  /** The database that holds the entries. */
  readonly source: AnyLevel
  readonly #keyEncoding: Encoding
  readonly #valueEncoding: Encoding
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
    // Resolved by the database, which may reject what other encodings store.
    const keyEncoding = keyEncodingOf(db, rest.keyEncoding)
    const valueEncoding = valueEncodingOf(db, rest.valueEncoding)
    super(manifestOf(db), { ...rest, keyEncoding, valueEncoding } as never)
    this.#keyEncoding = keyEncoding
    this.#valueEncoding = valueEncoding

    this.source = db
    this.#clock = new Clock(now)
    this.#records = new ExpiryRecords(db)
    this.#live = { db, records: this.#records, clock: this.#clock }
    this.#reads = new LiveReads(this.#live)
    addView(this as unknown as AnyLevel, {
      source: db,
      recordsPrefix: this.#records.prefix,
      isHidden: (key) => this.#reads.isExpiredSync(key),
      isHiddenNow: (key) => (readsAtOnce(db) ? this.#reads.isExpiredSync(key) : this.#reads.isExpired(key))
    })
    this.#hook = new WriteHook(db, this.#records, this.#clock, defaultTtlMs)
    this.#sweeper = new Sweeper(this.#swept(), checkIntervalMs, onError)
  }

  /**
   * Removes the entries that have expired by now, in batches, and returns their number. This also happens automatically every
   * `checkIntervalMs`.
   *
   * @throws LEVEL_HOOK_ERROR if a prewrite hook refused to delete an entry. The others are removed nevertheless.
   */
  async removeExpired(): Promise<number> {
    if (this.status === 'opening') return this.deferAsync(() => this.removeExpired())
    this.#assertOpen()
    return this.#sweeper.sweep()
  }

  /**
   * Returns when an entry expires, in milliseconds since 1970: `Infinity` if it does not, undefined if it has expired or does
   * not exist.
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
   * Gives an entry a new time to live, counted from now, without writing its value. With `Infinity`, it never expires. Returns
   * whether the entry existed.
   *
   * @param ttlMs - The time to live in milliseconds, more than 0.
   * @throws TTL_INVALID if `ttlMs` is not valid.
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

  // ---- methods that abstract-level calls ----

  /** @internal */
  override keyEncoding(encoding?: unknown): never {
    return keyEncodingOf(this.source, encoding ?? this.#keyEncoding) as never
  }

  /** @internal */
  override valueEncoding(encoding?: unknown): never {
    return valueEncodingOf(this.source, encoding ?? this.#valueEncoding) as never
  }

  /**
   * Stores a value that lives for `ttlMs` from now; its expiry is stored in the same batch.
   *
   * @throws TTL_INVALID if `ttlMs` is not valid.
   */
  override put(key: KDefault, value: VDefault): Promise<void>
  override put<K = KDefault, V = VDefault>(key: K, value: V, options: TtlPutOptions<K, V>): Promise<void>
  override put(key: unknown, value: unknown, options?: object): Promise<void> {
    return writeNamed(this, [{ key, value }], options, () =>
      super.put(key as never, value as never, options as never)
    )
  }

  /**
   * Writes several operations atomically, each put with its time to live.
   *
   * @throws TTL_INVALID if `ttlMs` is not valid.
   */
  override batch(operations: Array<TtlBatchOperation<KDefault, VDefault>>): Promise<void>
  override batch<K = KDefault, V = VDefault>(
    operations: Array<TtlBatchOperation<K, V>>,
    options: TtlBatchOptions<K, V>
  ): Promise<void>
  override batch(): AbstractChainedBatch<this, KDefault, VDefault>
  override batch(...args: unknown[]): never {
    if (args.length === 0) return super.batch() as never
    const [operations, options] = args as [never, object | undefined]
    return writeNamed(this, operations, options, () => super.batch(operations, options as never)) as never
  }

  /** @internal */
  _chainedBatch(): AbstractChainedBatch<never, never, never> {
    return namingBatch(this, (AbstractLevel.prototype as unknown as TtlLevel)._chainedBatch.call(this))
  }

  /** @internal */
  _sublevel(name: string, options: object): TtlSublevel {
    return new TtlSublevel(this, this.source, name, options)
  }

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

    // Closes the view when the database is closed.
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
    const { ttlMs: ofBatch } = options as ExpiryOptions
    for (const operation of operations) {
      // An undefined option counts as missing, although it has overridden that of the batch.
      if (operation.ttlMs === undefined && ofBatch !== undefined) operation.ttlMs = ofBatch
      if (operation.ttlMs !== undefined) assertTtl(operation.ttlMs)
    }
    const write = (): Promise<void> => this.source.batch(operations as never, options as never)
    // A removal already runs exclusively.
    return (options as { isRemoval?: true }).isRemoval === true ? write() : this.#gate.together(write)
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
    if (!openView(this.source, this as unknown as AnyLevel)) {
      throw codedError('TTL_IN_USE', 'This database already has an open ttl() view: close it first')
    }

    this.#hook.attach()
  }

  #release(): void {
    this.#hook.detach()
    closeView(this.source, this as unknown as AnyLevel)
  }

  #swept(): ConstructorParameters<typeof Sweeper>[0] {
    return {
      isOpen: () => this.status === 'open',
      due: (after) => this.#records.dueUntil(this.#clock.now(), after),
      remove: (due) => this.#gate.alone(() => this.#remove(due))
    }
  }

  async #remove(due: Due[]): Promise<number> {
    const { forgetsLines } = this.#hook
    // The hook checks each entry. Entries that were written again are rare; then each entry is removed separately.
    const isExpired = forgetsLines && due.length > 1 ? () => true : await this.#stillExpired(due)
    const expired = due.filter(isExpired)
    // The hook removes the line of each removed entry. Other lines belong to entries that were written again.
    const lines = forgetsLines ? due.filter((one) => !isExpired(one)) : due
    const operations = [...expired.map(removalOf), ...lines.map((line) => this.#records.forget(line))]

    const db = this.#isWatched ? (this as unknown as AnyLevel) : this.source
    await db.batch(operations as never, { isRemoval: true } as object)
    return expired.length
  }

  /** Whether an entry still expires at the time in its line. */
  async #stillExpired(due: Due[]): Promise<(one: Due) => boolean> {
    const expiries = await this.#records.getMany(
      due.map(({ key }) => key),
      { keyEncoding: 'view' }
    )
    const expired = new Set(due.filter(({ expiry }, index) => expiries[index] === expiry))
    return (one) => expired.has(one)
  }

  /** Whether anything watches writes through this view, and not only those to the database. */
  get #isWatched(): boolean {
    const { noop } = this.hooks.prewrite as unknown as { noop: boolean }
    return !noop || this.listenerCount('write') > 0
  }

  #encode(key: unknown, options: { keyEncoding?: string }): { encoded: Encoded; keyEncoding: string } {
    if (key === null || key === undefined) {
      throw codedError('LEVEL_INVALID_KEY', 'Key cannot be null or undefined')
    }

    const encoding: Encoding = this.keyEncoding(options.keyEncoding)
    return { encoded: encoding.encode(key), keyEncoding: encoding.format }
  }

  #assertOpen(): void {
    if (this.status !== 'open') throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
  }
}
