import { type AbstractDatabaseOptions, AbstractLevel, type AbstractOpenOptions } from 'abstract-level'
import type { Backend, Bytes } from '../backend.js'
import { withInner } from '../encoding/exact-encoding.js'
import { yieldToEventLoop } from '../event-loop.js'
import { Snapshot } from '../read/snapshot.js'
import { type Hooks, PrewriteHook } from '../sublevel/key-space.js'
import { emitApart, Namespace } from '../sublevel/namespace.js'
import { Sublevel, type SublevelOptions } from '../sublevel/sublevel.js'
import type { ChainedBatch } from '../write/chained-batch.js'
import { clear } from '../write/write-api.js'
import { withApi } from './api.js'
import { addCause, closedWithError } from './close-failure.js'
import type { Database } from './database.js'
import { checkBackend, type DatabaseManifest, databaseManifest } from './manifest.js'
import { completeDeferred, explainRefusal, forgetRefusal } from './not-open.js'
import type {
  BatchOperation,
  BatchOptions,
  DelOptions,
  Entry,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  IteratorOptions,
  Iterator as IteratorType,
  KeyIteratorOptions,
  KeyIterator as KeyIteratorType,
  PutOptions,
  UpdateOptions,
  ValueIteratorOptions,
  ValueIterator as ValueIteratorType,
  WriteOptions
} from './operation-options.js'
import { isSync, type PrivateClearOptions, Store } from './store.js'
import type { Closable, WeakChildren } from './weak-children.js'

interface PrivateOperation {
  type: 'put' | 'del'
  key: Bytes
  value?: Bytes
}

/**
 * An ordered key/value database over a back-end. It has the API of abstract-level, hooks that see every write, and sublevels
 * that reach the back-end directly.
 *
 * If the back-end answers synchronously, a method returns a promise that has already settled. Writes take effect in the order
 * in which they are called.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class BackendLevel<KDefault = string, VDefault = string> extends withApi(AbstractLevel)<
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  readonly #store: Store
  /** What is closed with the database, and what abstract-level closes in its place. */
  readonly #resources = new Map<Closable, Closable>()
  /** @internal */
  readonly namespace: Namespace
  /** @internal */
  declare readonly children: WeakChildren

  /**
   * Creates a database and starts opening it.
   *
   * @param backend - The store of keys and values. It must serve this database alone.
   * @param options - Options of the database, and of {@link open}, which is called automatically. They are also passed to the
   *   back-end.
   * @param additionalMethods - Methods of a class that extends this one, as `supports.additionalMethods` lists them.
   * @throws TypeError if the back-end lacks a method that its manifest declares.
   */
  constructor(
    backend: Backend,
    options?: (AbstractDatabaseOptions<KDefault, VDefault> & object) | undefined,
    additionalMethods: Record<string, boolean> = {}
  ) {
    checkBackend(backend)
    const given = withInner(options)
    super(databaseManifest(backend.manifest, additionalMethods), given)

    const self = this as unknown as Database
    this.#store = new Store(self, backend)
    this.namespace = new Namespace(this.#store, self, null, '')
    this.hooks.prewrite = new PrewriteHook(this.#store.keySpaces, '', self)
  }

  /** Opens the database, or waits until it is open. The constructor calls this; call it to receive errors, or to reopen. */
  override open(options?: AbstractOpenOptions): Promise<void> {
    // Where it makes no difference, this is the promise of abstract-level itself: it settles before a close() in the same tick begins.
    const { noop } = this.hooks.postopen as { noop?: boolean }
    return this.namespace.open(() =>
      noop === true ? super.open(options as AbstractOpenOptions) : this.#open(options)
    )
  }

  /** Opens a database with `postopen` hook functions. If one fails, the back-end is closed again. */
  async #open(options: AbstractOpenOptions | undefined): Promise<void> {
    try {
      await super.open(options as AbstractOpenOptions)
    } catch (error) {
      const failure = this.#store.takeCloseFailure()
      if (failure !== undefined) addCause(error as Error, failure.error)
      throw error
    }
  }

  /** @internal */
  override attachResource(resource: Closable): void {
    if (this.status === 'opening') completeDeferred(resource)
    if (typeof resource?.close === 'function' && !this.#resources.has(resource)) {
      this.#resources.set(resource, this.#store.released(resource))
    }
    super.attachResource((this.#resources.get(resource) ?? resource) as never)
  }

  /** @internal */
  override detachResource(resource: Closable): void {
    super.detachResource((this.#resources.get(resource) ?? resource) as never)
    this.#resources.delete(resource)
  }

  /**
   * Emits an event. If a listener of `write` or `clear` throws, its error becomes an uncaught exception; the write does not
   * fail.
   */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'closing') this.#store.isClosing = true
    const isHeard = emitApart(event, () => super.emit(event, ...args))
    if (event === 'closed') this.#reportCloseFailure()
    return isHeard
  }

  /** Makes `close()`, which emits its event as the last thing, reject with what could not be written or released. */
  #reportCloseFailure(): void {
    this.#store.isClosing = false
    this.#resources.clear()
    const failure = this.#store.takeCloseFailure()
    if (failure !== undefined) throw closedWithError(failure.error)
  }

  // ---- methods that abstract-level calls ----

  /** @internal */
  async _open(options: object): Promise<void> {
    this.#store.refusal = undefined
    forgetRefusal(this)

    try {
      await this.#store.backend.open(options)
    } catch (error) {
      this.#store.refusal = error
      explainRefusal(this)
      throw error
    }
  }

  /** @internal */
  async _close(): Promise<void> {
    // After an error, abstract-level would take the database for open, although the back-end has released the store.
    await this.#store.closeBackend()
  }

  /** @internal */
  _put(key: Bytes, value: Bytes, options: WriteOptions): void | Promise<void> {
    return this.#store.put(key, value, isSync(options)) ?? yieldToEventLoop()
  }

  /** @internal */
  _del(key: Bytes, options: WriteOptions): void | Promise<void> {
    return this.#store.del(key, isSync(options)) ?? yieldToEventLoop()
  }

  /** @internal */
  _batch(operations: PrivateOperation[], options: WriteOptions): void | Promise<void> {
    const flat = operations.flatMap(({ type, key, value }) => [key, type === 'put' ? (value as Bytes) : null])
    return this.#store.write(flat, isSync(options)) ?? yieldToEventLoop(operations.length)
  }

  /** @internal */
  _sublevel<K, V>(name: string | string[], options: SublevelOptions<K, V>): Sublevel<this, K, V> {
    return new Sublevel<this, K, V>(this, name, options)
  }

  /** @internal */
  _clear(options: PrivateClearOptions): Promise<void> {
    return clear(this.namespace, options)
  }

  /** @internal */
  _snapshot(options: object): Snapshot {
    // Made first, because whatever abstract-level has attached to the database must be closable.
    return new Snapshot(this.#store.backend.snapshot(), options)
  }
}

// Methods that abstract-level implements, with types that include the options of this package.
export interface BackendLevel<KDefault, VDefault> {
  /** The hooks of this database. */
  hooks: Hooks<this>
  /** The capabilities of this database. */
  supports: DatabaseManifest

  /**
   * Stores a value. A resolved promise acknowledges the write, which is then as durable as the back-end documents. With the
   * option `sync`, it also survives a power loss.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is about to be closed.
   * @throws LEVEL_HOOK_ERROR if a prewrite hook function fails. In that case, nothing is written.
   */
  put(key: KDefault, value: VDefault): Promise<void>
  put<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): Promise<void>

  /** Deletes a key, or does nothing if it does not exist. Durability and errors are the same as for {@link put}. */
  del(key: KDefault): Promise<void>
  del<K = KDefault>(key: K, options: DelOptions<K>): Promise<void>

  /**
   * Writes several operations atomically. Durability and errors are the same as for {@link put}. Without arguments, it returns
   * a new {@link ChainedBatch}.
   */
  batch(operations: Array<BatchOperation<this, KDefault, VDefault>>): Promise<void>
  batch<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): Promise<void>
  batch(): ChainedBatch<this, KDefault, VDefault>

  /**
   * Replaces the value of a key with the result of a function even while others write to it. If the value has changed by the
   * time of the write, the function is called again with the new one.
   *
   * @param change - Gets the value, or undefined if there is none. It may return a promise. If its result is undefined, the entry is
   *   deleted. It should have no other effects, as it may be called several times.
   * @returns The new value.
   * @throws LEVEL_CONFLICT if others have changed the value in each attempt. Nothing is written then.
   * @throws LEVEL_ABORTED if the signal was aborted.
   * @throws LEVEL_NOT_SUPPORTED if the database has no conditional writes; see `supports.conditionalWrites`.
   */
  update(
    key: KDefault,
    change: (value: VDefault | undefined) => VDefault | undefined | Promise<VDefault | undefined>
  ): Promise<VDefault | undefined>
  update<K = KDefault, V = VDefault>(
    key: K,
    change: (value: V | undefined) => V | undefined | Promise<V | undefined>,
    options: UpdateOptions<K, V>
  ): Promise<V | undefined>

  /**
   * Stores a value like {@link put}, but synchronously. It blocks the thread while it waits for the disk (with `sync`), for
   * compactions to catch up, and for earlier writes.
   *
   * @throws LEVEL_NOT_SUPPORTED if the back-end cannot write synchronously, or if this is called in a prewrite hook function,
   * which should add operations to its batch instead.
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is about to be closed.
   */
  putSync(key: KDefault, value: VDefault): void
  putSync<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): void

  /** Deletes a key like {@link del}, but synchronously. See {@link putSync}. */
  delSync(key: KDefault): void
  delSync<K = KDefault>(key: K, options: DelOptions<K>): void

  /** Writes an array of operations like {@link batch}, but synchronously. See {@link putSync}. */
  batchSync(operations: Array<BatchOperation<this, KDefault, VDefault>>): void
  batchSync<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): void

  /**
   * Returns the entries of a range for a loop without `await`: `for (const [key, value] of db.iterateSync({ gte: 'a' }))`. The
   * loop reads the database as it was at the time of the call, and blocks the thread while it waits for the disk. The results
   * of `iterator()`, `keys()` and `values()` can be used in the same way.
   *
   * @throws LEVEL_NOT_SUPPORTED if the back-end cannot read synchronously.
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  iterateSync(): Generator<[KDefault, VDefault], void, unknown>
  iterateSync<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): Generator<[K, V], void, unknown>

  /**
   * Closes the database once all earlier writes are done, together with its iterators, snapshots, batches and sublevels. It
   * can then be opened again, even if this rejects.
   *
   * @throws LEVEL_DATABASE_NOT_CLOSED once, if something could not be written or released; `cause` is the reason. The database
   * is closed nevertheless, unless `status` is still `open`.
   */
  close(): Promise<void>

  /**
   * Returns the value of a key, or undefined if the key does not exist.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   * @throws LEVEL_DECODE_ERROR if the encoding cannot decode the value.
   */
  get(key: KDefault): Promise<VDefault | undefined>
  get<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<V | undefined>

  /** Returns the value of a key like {@link get}, but synchronously. It blocks the thread while it waits for the disk. */
  getSync(key: KDefault): VDefault | undefined
  getSync<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): V | undefined

  /**
   * Returns the value of a key with the version of the entry, or undefined if the key does not exist.
   *
   * @throws LEVEL_NOT_SUPPORTED if entries have no versions; see `supports.versions`.
   */
  getEntry(key: KDefault): Promise<Entry<VDefault> | undefined>
  getEntry<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<Entry<V> | undefined>

  /** Returns the value of each key, all from the same state, with undefined for keys that do not exist. */
  getMany(keys: KDefault[]): Promise<(VDefault | undefined)[]>
  getMany<K = KDefault, V = VDefault>(keys: K[], options: GetManyOptions<K, V>): Promise<(V | undefined)[]>

  /** Returns whether a key exists. */
  has(key: KDefault): Promise<boolean>
  has<K = KDefault>(key: K, options: HasOptions<K>): Promise<boolean>

  /** Returns whether each of the keys exists, all in the same state. */
  hasMany(keys: KDefault[]): Promise<boolean[]>
  hasMany<K = KDefault>(keys: K[], options: HasManyOptions<K>): Promise<boolean[]>

  /** Creates an iterator over the entries of a range. It reads the database as it was at the time of the call. */
  iterator(): IteratorType<this, KDefault, VDefault>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): IteratorType<this, K, V>

  /** Creates an iterator over the keys of a range. It reads the database as it was at the time of the call. */
  keys(): KeyIteratorType<this, KDefault>
  keys<K = KDefault>(options: KeyIteratorOptions<K>): KeyIteratorType<this, K>

  /** Creates an iterator over the values of a range. It reads the database as it was at the time of the call. */
  values(): ValueIteratorType<this, KDefault, VDefault>
  values<K = KDefault, V = VDefault>(options: ValueIteratorOptions<K, V>): ValueIteratorType<this, K, V>

  /** Creates a sublevel: a part of this database with its own keys, encodings, hooks and events. */
  // If its type named the type of its parent, the compiler would follow all methods of all parents, and give up.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  sublevel(name: string | string[]): Sublevel<any, string, string>
  sublevel<K = string, V = string>(
    name: string | string[],
    options: SublevelOptions<K, V>
    // biome-ignore lint/suspicious/noExplicitAny: see above
  ): Sublevel<any, K, V>

  /** Creates a snapshot of the current state, for the option `snapshot` of reads. Close it after use. */
  snapshot(options?: object | undefined): Snapshot
}
