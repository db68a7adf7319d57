import { resolve } from 'node:path'
import { AbstractLevel } from 'abstract-level'
import type { Bytes, NativeDatabase, RepairReport, Stats } from './binding.js'
import { ChainedBatch } from './chained-batch.js'
import type { PrivateIteratorOptions } from './cursor.js'
import { EntryIterator, KeyIterator, ValueIterator } from './iterator.js'
import { type Hooks, PrewriteHook } from './key-space.js'
import { binding } from './load-binding.js'
import { completeDeferred, explainRefusal, forgetRefusal } from './not-open.js'
import type {
  BatchOperation,
  BatchOptions,
  DelOptions,
  GetManyOptions,
  GetOptions,
  HasManyOptions,
  HasOptions,
  IteratorOptions,
  Iterator as IteratorType,
  KeyIteratorOptions,
  KeyIterator as KeyIteratorType,
  PutOptions,
  StartEndOptions,
  ValueIteratorOptions,
  ValueIterator as ValueIteratorType,
  WriteOptions
} from './operation-options.js'
import { type DatabaseOptions, nativeOptions, type OpenOptions, type RepairOptions } from './options.js'
import { type Database, emitApart, Place } from './place.js'
import { Snapshot } from './snapshot.js'
import { assertOpen, batch, clear, del, put, synchronousMethods, writeSync } from './space-writes.js'
import { type PrivateClearOptions, type PrivateReadOptions, Store, writeFlags } from './store.js'
import { Sublevel, type SublevelOptions } from './sublevel.js'
import { inTurn, turn } from './turn.js'
import { type Closable, WeakChildren } from './weak-children.js'

interface PrivateOperation {
  type: 'put' | 'del'
  key: Bytes
  value?: Bytes
}

/**
 * An ordered key/value database in a folder, in LevelDB's file format.
 *
 * A `get` that memory can answer, and a write that need not wait, are done within the call and return a settled
 * promise; what waits for the disk, for `sync` or for compactions to catch up does so on another thread. Writes take
 * effect in the order in which they are called.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Level<KDefault = string, VDefault = string> extends AbstractLevel<
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  readonly #location: string
  /** Absolute, so that a change of the working directory does not matter. */
  readonly #path: string
  readonly #store: Store
  #multithreading: boolean
  /** @internal */
  readonly place: Place
  /** @internal */
  readonly children = new WeakChildren()

  /**
   * @param location - The folder of the database. It is created, with its parents, unless `createIfMissing` is false.
   * @param options - Options of the database, and of {@link open}, which happens by itself.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    assertLocation(location)

    super(
      {
        encodings: { buffer: true, utf8: true, view: true },
        has: true,
        getSync: true,
        createIfMissing: true,
        errorIfExists: true,
        explicitSnapshots: true,
        additionalMethods,
        signals: { iterators: true }
      } as object,
      options
    )

    this.#location = location
    this.#path = resolve(location)
    this.#multithreading = options?.multithreading === true

    const self = this as unknown as Database
    this.#store = new Store(self)
    this.place = new Place(this.#store, self, null, '')
    self.hooks.prewrite = new PrewriteHook(this.#store.keySpaces, '', self)
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /** Whether other instances of this process may have the same database open: the option of this name. */
  get multithreading(): boolean {
    return this.#multithreading
  }

  override put(key: KDefault, value: VDefault): Promise<void>
  override put<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): Promise<void>
  override put(key: unknown, value: unknown, options?: object): Promise<void> {
    return put(this.place, key, value, options)
  }

  override del(key: KDefault): Promise<void>
  override del<K = KDefault>(key: K, options: DelOptions<K>): Promise<void>
  override del(key: unknown, options?: object): Promise<void> {
    return del(this.place, key, options)
  }

  override batch(operations: Array<BatchOperation<this, KDefault, VDefault>>): Promise<void>
  override batch<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): Promise<void>
  override batch(): ChainedBatch<this, KDefault, VDefault>
  override batch(...args: [] | [operations: object[], options?: object]): unknown {
    if (args.length > 0) return batch(this.place, args[0] as object[], args[1])
    assertOpen(this, 'batch')
    return super.batch()
  }

  /**
   * As `put`, but done when it returns. It waits on this thread: for the disk with `sync`, for compactions that have to
   * catch up, and for writes that were called before.
   *
   * @throws LEVEL_NOT_SUPPORTED within a prewrite hook function, which adds operations to its batch instead.
   */
  putSync(key: KDefault, value: VDefault): void
  putSync<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): void
  putSync(key: unknown, value: unknown, options?: object): void {
    writeSync(this.place, 'putSync', [{ type: 'put', key, value }], options)
  }

  /** As `del`, but done when it returns; see {@link putSync}. */
  delSync(key: KDefault): void
  delSync<K = KDefault>(key: K, options: DelOptions<K>): void
  delSync(key: unknown, options?: object): void {
    writeSync(this.place, 'delSync', [{ type: 'del', key }], options)
  }

  /** As `batch` with an array, but done when it returns; see {@link putSync}. */
  batchSync(operations: Array<BatchOperation<this, KDefault, VDefault>>): void
  batchSync<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): void
  batchSync(operations: object[], options?: object): void {
    writeSync(this.place, 'batchSync', operations, options)
  }

  /**
   * The entries of a range, for a loop without `await`: `for (const [key, value] of db.iterateSync({ gte: 'a' }))`. It
   * shows the database as it was at the call, and waits for the disk on this thread. What `iterator()`, `keys()` and
   * `values()` return can be looped over in the same way.
   */
  iterateSync(): Generator<[KDefault, VDefault], void, unknown>
  iterateSync<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): Generator<[K, V], void, unknown>
  iterateSync(options?: IteratorOptions<unknown, unknown>): Generator<unknown, void, unknown> {
    assertOpen(this, 'iterateSync')
    return this.iterator(options as IteratorOptions<unknown, unknown>)[Symbol.iterator]()
  }

  /**
   * About how many bytes the keys from `start` to before `end` take: on disk, compressed, and what was written lately in
   * memory.
   */
  approximateSize(start: KDefault, end: KDefault): Promise<number>
  approximateSize<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<number>
  async approximateSize(...args: [unknown, unknown, StartEndOptions<unknown>?]): Promise<number> {
    return this.#onRange('approximateSize', args, (database, start, end) =>
      binding.approximateSize(database, start, end)
    )
  }

  /**
   * Compacts the keys from `start` to `end`, both included, so that deleted and overwritten ones take no space. This
   * happens by itself; call it where the space or the speed is wanted at a certain time. One call is enough.
   */
  compactRange(start: KDefault, end: KDefault): Promise<void>
  compactRange<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<void>
  async compactRange(...args: [unknown, unknown, StartEndOptions<unknown>?]): Promise<void> {
    return this.#onRange('compactRange', args, (database, start, end) =>
      binding.compactRange(database, start, end)
    )
  }

  /**
   * Makes a copy of the database in a new folder, as of now, while writes go on. Tables are hard-linked where the
   * file system allows it, so that it is quick and takes little space.
   *
   * @param path - A folder that does not exist yet. The copy is a database of its own.
   */
  async checkpoint(path: string): Promise<void> {
    if (typeof path !== 'string' || path === '') {
      throw new TypeError("The first argument 'path' must be a non-empty string")
    }
    assertPath(path, 'path')

    if (this.status === 'opening') return this.deferAsync(() => this.checkpoint(path))
    return binding.checkpoint(this.#native('checkpoint'), resolve(path))
  }

  /**
   * Shows in a database that was opened with `readOnly` what another process has written since: reads that begin
   * afterwards work on the newest state. Iterators and snapshots that are there keep the state that they show. If it fails,
   * the state that was shown before stays. Without `readOnly` it does nothing.
   */
  async refresh(): Promise<void> {
    if (this.status === 'opening') return this.deferAsync(() => this.refresh())
    return binding.refresh(this.#native('refresh'))
  }

  /**
   * What the database knows about itself: `leveldb.num-files-at-levelN`, `leveldb.stats`, `leveldb.sstables` or
   * `leveldb.approximate-memory-usage`. An empty string for any other name.
   */
  getProperty(property: string): string {
    if (typeof property !== 'string') {
      throw new TypeError("The first argument 'property' must be a string")
    }

    return binding.property(this.#native('getProperty'), property) ?? ''
  }

  /** Numbers about the database's size and work. */
  stats(): Stats {
    return binding.stats(this.#native('stats'))
  }

  override open(options?: OpenOptions): Promise<void> {
    return this.place.open(() => super.open(options as OpenOptions))
  }

  override close(): Promise<void> {
    return this.place.close(() => super.close())
  }

  /** @internal */
  override getSync(key: KDefault, options?: object): VDefault | undefined {
    assertOpen(this, 'getSync')
    return super.getSync(key, options as never)
  }

  /** @internal */
  override snapshot(options?: object): Snapshot {
    assertOpen(this, 'snapshot')
    return super.snapshot(options as never) as Snapshot
  }

  /** @internal */
  override attachResource(resource: Closable): void {
    if (this.status === 'opening') completeDeferred(resource)
    super.attachResource(resource as never)
  }

  /** Emits an event. A listener of `write` or `clear` that throws fails by itself, not what was done. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return emitApart(event, () => super.emit(event, ...args))
  }

  /**
   * Removes the database at `location`, which must not be open, and its folder if nothing else is in it. Other files
   * are left alone.
   */
  static async destroy(location: string): Promise<void> {
    assertLocation(location)
    return binding.destroy(resolve(location))
  }

  /**
   * Restores what can be read of a damaged database, which must not be open. Try to open it first: this keeps as much
   * as it can, but some may be lost, and deleted keys may come back. Damaged files are kept in the folder `lost`.
   */
  static async repair(location: string, options?: RepairOptions | undefined): Promise<RepairReport> {
    assertLocation(location)
    return binding.repair(resolve(location), nativeOptions(options ?? {}))
  }

  // ---- what abstract-level calls ----

  /** @internal */
  async _open(options: OpenOptions): Promise<void> {
    this.#multithreading = options.multithreading === true
    this.#store.refusal = undefined
    forgetRefusal(this)

    try {
      this.#store.database = await binding.open(this.#path, nativeOptions(options))
    } catch (error) {
      this.#store.refusal = error
      explainRefusal(this)
      throw error
    }

    const leftOut = binding.leftOutLog(this.#store.database)
    if (leftOut !== undefined) this.once('open', () => this.emit('leftOut', leftOut))
  }

  /** @internal */
  async _close(): Promise<void> {
    await binding.close(this.#store.native())
    this.#store.database = null
  }

  /** @internal */
  _get(key: Bytes, options: PrivateReadOptions): Bytes | undefined | Promise<Bytes | undefined> {
    return inTurn(this.#store.get(key, options, 0))
  }

  /** @internal */
  _getSync(key: Bytes, options: PrivateReadOptions): Bytes | undefined {
    return this.#store.getSync(key, options)
  }

  /** @internal */
  _getMany(
    keys: Bytes[],
    options: PrivateReadOptions
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    return this.#store.getMany(this, keys, options)
  }

  /** @internal */
  _has(key: Bytes, options: PrivateReadOptions): boolean | Promise<boolean> {
    return this.#store.has(key, options)
  }

  /** @internal */
  _hasMany(keys: Bytes[], options: PrivateReadOptions): boolean[] | Promise<boolean[]> {
    return this.#store.hasMany(this, keys, options)
  }

  /** @internal */
  _put(key: Bytes, value: Bytes, options: WriteOptions): void | Promise<void> {
    return this.#store.put(key, value, writeFlags(options)) ?? turn()
  }

  /** @internal */
  _del(key: Bytes, options: WriteOptions): void | Promise<void> {
    return this.#store.del(key, writeFlags(options)) ?? turn()
  }

  /** @internal */
  _batch(operations: PrivateOperation[], options: WriteOptions): void | Promise<void> {
    const flat = operations.flatMap(({ type, key, value }) => [key, type === 'put' ? (value as Bytes) : null])
    return this.#store.write(flat, writeFlags(options)) ?? turn(operations.length)
  }

  /** @internal */
  _sublevel<K, V>(name: string | string[], options: SublevelOptions<K, V>): Sublevel<this, K, V> {
    return new Sublevel<this, K, V>(this, name, options)
  }

  /** @internal */
  _chainedBatch(): ChainedBatch<this, KDefault, VDefault> {
    return new ChainedBatch<this, KDefault, VDefault>(this, this.place)
  }

  /** @internal */
  _clear(options: PrivateClearOptions): Promise<void> {
    return clear(this.place, options)
  }

  /** @internal */
  _iterator(options: PrivateIteratorOptions): EntryIterator<this, KDefault, VDefault> {
    return new EntryIterator<this, KDefault, VDefault>(this, this.#store.native(), options)
  }

  /** @internal */
  _keys(options: PrivateIteratorOptions): KeyIterator<this, KDefault> {
    return new KeyIterator<this, KDefault>(this, this.#store.native(), options)
  }

  /** @internal */
  _values(options: PrivateIteratorOptions): ValueIterator<this, KDefault, VDefault> {
    return new ValueIterator<this, KDefault, VDefault>(this, this.#store.native(), options)
  }

  /** @internal */
  _snapshot(options: object): Snapshot {
    return new Snapshot(this.#store.native(), options)
  }

  // ---- helpers ----

  /** The native database, for methods of our own. */
  #native(method: string): NativeDatabase {
    assertOpen(this, method)
    return this.#store.native()
  }

  async #onRange<T>(
    method: string,
    args: [unknown, unknown, StartEndOptions<unknown>?],
    call: (database: NativeDatabase, start: Bytes, end: Bytes) => Promise<T>
  ): Promise<T> {
    if (args.length < 2) throw new TypeError("The arguments 'start' and 'end' are required")
    if (this.status === 'opening') return this.deferAsync(() => this.#onRange(method, args, call))

    const database = this.#native(method)
    const [start, end, options] = args
    // The types of abstract-level do not follow an encoding from options to keys.
    const encoding = this.keyEncoding(options?.keyEncoding as 'utf8')
    return call(database, encoding.encode(start as string), encoding.encode(end as string))
  }
}

// The types of what abstract-level implements, with the options that this package adds.
export interface Level<KDefault, VDefault> {
  hooks: Hooks<this>

  open(): Promise<void>
  open(options: OpenOptions): Promise<void>

  get(key: KDefault): Promise<VDefault | undefined>
  get<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): Promise<V | undefined>

  getSync(key: KDefault): VDefault | undefined
  getSync<K = KDefault, V = VDefault>(key: K, options: GetOptions<K, V>): V | undefined

  getMany(keys: KDefault[]): Promise<(VDefault | undefined)[]>
  getMany<K = KDefault, V = VDefault>(keys: K[], options: GetManyOptions<K, V>): Promise<(V | undefined)[]>

  has(key: KDefault): Promise<boolean>
  has<K = KDefault>(key: K, options: HasOptions<K>): Promise<boolean>

  hasMany(keys: KDefault[]): Promise<boolean[]>
  hasMany<K = KDefault>(keys: K[], options: HasManyOptions<K>): Promise<boolean[]>

  iterator(): IteratorType<this, KDefault, VDefault>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): IteratorType<this, K, V>

  keys(): KeyIteratorType<this, KDefault>
  keys<K = KDefault>(options: KeyIteratorOptions<K>): KeyIteratorType<this, K>

  values(): ValueIteratorType<this, KDefault, VDefault>
  values<K = KDefault, V = VDefault>(options: ValueIteratorOptions<K, V>): ValueIteratorType<this, K, V>

  // With the type of its parent, of which the compiler would follow all methods, a sublevel is too deep for it.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  sublevel(name: string | string[]): Sublevel<any, string, string>
  sublevel<K = string, V = string>(
    name: string | string[],
    options: SublevelOptions<K, V>
    // biome-ignore lint/suspicious/noExplicitAny: see above
  ): Sublevel<any, K, V>

  snapshot(options?: object | undefined): Snapshot
}

const additionalMethods = {
  approximateSize: true,
  compactRange: true,
  checkpoint: true,
  refresh: true,
  ...synchronousMethods
}

function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
  assertPath(location, 'location')
}

function assertPath(path: string, name: string): void {
  if (path.includes('\0'))
    throw new TypeError(`The first argument '${name}' must not contain a zero character`)
}
