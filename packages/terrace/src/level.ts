import { resolve } from 'node:path'
import { AbstractLevel } from 'abstract-level'
import {
  type Bytes,
  Flag,
  type NativeDatabase,
  type NativeSnapshot,
  type RepairReport,
  type Stats
} from './binding.js'
import { ChainedBatch } from './chained-batch.js'
import type { PrivateIteratorOptions } from './cursor.js'
import { type Database, encodeOperations, type PublicOperation } from './encode-operations.js'
import { codedError } from './errors.js'
import { EntryIterator, KeyIterator, ValueIterator } from './iterator.js'
import { binding } from './load-binding.js'
import { inParts, MAX_SPREAD, valuesOf } from './many.js'
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
import { slab } from './slab.js'
import { nativeSnapshot, Snapshot } from './snapshot.js'
import { turn } from './turn.js'

/** Options as abstract-level passes them to the private methods of reads. */
interface PrivateReadOptions {
  fillCache?: boolean
  valueEncoding?: string
  snapshot?: unknown
}

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
  #database: NativeDatabase | null = null

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
        additionalMethods: { approximateSize: true, compactRange: true, checkpoint: true },
        signals: { iterators: true }
      } as object,
      options
    )

    this.#location = location
    this.#path = resolve(location)
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  override batch(operations: Array<BatchOperation<this, KDefault, VDefault>>): Promise<void>
  override batch<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): Promise<void>
  override batch(): ChainedBatch<this, KDefault, VDefault>
  override batch(...args: [] | [operations: object[], options?: object]): unknown {
    const [operations, options] = args
    // What is not open yet defers it, and only abstract-level runs prewrite hooks.
    if (!Array.isArray(operations) || this.status !== 'open' || this.#hasPrewriteHooks()) {
      return (super.batch as (...args: unknown[]) => unknown).apply(this, args)
    }

    return this.#batch(operations as PublicOperation[], options)
  }

  /**
   * As `put`, but done when it returns. It waits on this thread: for the disk with `sync`, for compactions that have to
   * catch up, and for writes that were called before.
   *
   * @throws LEVEL_NOT_SUPPORTED if the database has prewrite hooks.
   */
  putSync(key: KDefault, value: VDefault): void
  putSync<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): void
  putSync(key: unknown, value: unknown, options?: object): void {
    this.#writeSync('putSync', [{ type: 'put', key, value }], options)
  }

  /** As `del`, but done when it returns; see {@link putSync}. */
  delSync(key: KDefault): void
  delSync<K = KDefault>(key: K, options: DelOptions<K>): void
  delSync(key: unknown, options?: object): void {
    this.#writeSync('delSync', [{ type: 'del', key }], options)
  }

  /** As `batch` with an array, but done when it returns; see {@link putSync}. */
  batchSync(operations: Array<BatchOperation<this, KDefault, VDefault>>): void
  batchSync<K = KDefault, V = VDefault>(
    operations: Array<BatchOperation<this, K, V>>,
    options: BatchOptions<K, V>
  ): void
  batchSync(operations: object[], options?: object): void {
    if (!Array.isArray(operations)) throw new TypeError("The first argument 'operations' must be an array")
    this.#writeSync('batchSync', operations as PublicOperation[], options)
  }

  /**
   * The entries of a range, for a loop without `await`: `for (const [key, value] of db.iterateSync({ gte: 'a' }))`. It
   * shows the database as it was at the call, and waits for the disk on this thread. What `iterator()`, `keys()` and
   * `values()` return can be looped over in the same way.
   */
  iterateSync(): Generator<[KDefault, VDefault], void, unknown>
  iterateSync<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): Generator<[K, V], void, unknown>
  iterateSync(options?: IteratorOptions<unknown, unknown>): Generator<unknown, void, unknown> {
    this.#open('iterateSync')
    return this.iterator(options as IteratorOptions<unknown, unknown>)[Symbol.iterator]()
  }

  /**
   * About how many bytes on disk the keys from `start` to before `end` take. What was written lately may not count.
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

    if (this.status === 'opening') return this.deferAsync(() => this.checkpoint(path))
    return binding.checkpoint(this.#open('checkpoint'), resolve(path))
  }

  /**
   * What the database knows about itself: `leveldb.num-files-at-levelN`, `leveldb.stats`, `leveldb.sstables` or
   * `leveldb.approximate-memory-usage`. An empty string for any other name.
   */
  getProperty(property: string): string {
    if (typeof property !== 'string') {
      throw new TypeError("The first argument 'property' must be a string")
    }

    return binding.property(this.#open('getProperty'), property) ?? ''
  }

  /** Numbers about the database's size and work. */
  stats(): Stats {
    return binding.stats(this.#open('stats'))
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
    this.#database = await binding.open(this.#path, nativeOptions(options))
  }

  /** @internal */
  async _close(): Promise<void> {
    await binding.close(this.#native())
    this.#database = null
  }

  /** @internal */
  _get(key: Bytes, options: PrivateReadOptions): Bytes | undefined | Promise<Bytes | undefined> {
    return inTurn(this.#get(key, options, 0))
  }

  /** @internal */
  _getSync(key: Bytes, options: PrivateReadOptions): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#get(key, options, Flag.blocking)
  }

  /** @internal */
  _getMany(
    keys: Bytes[],
    options: PrivateReadOptions
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    if (keys.length > MAX_SPREAD)
      return inParts(this, keys, options, (keys, options) => this._getMany(keys, options))

    const snapshot = nativeSnapshot(options.snapshot)
    const found = binding.getMany(this.#native(), readFlags(options, snapshot), snapshot, ...keys)
    return found instanceof Promise ? found.then(valuesOf) : inTurn(valuesOf(found), keys.length)
  }

  /** @internal */
  _has(key: Bytes, options: PrivateReadOptions): boolean | Promise<boolean> {
    const snapshot = nativeSnapshot(options.snapshot)
    return inTurn(binding.has(this.#native(), key, readFlags(options, snapshot), snapshot))
  }

  /** @internal */
  _hasMany(keys: Bytes[], options: PrivateReadOptions): boolean[] | Promise<boolean[]> {
    if (keys.length > MAX_SPREAD)
      return inParts(this, keys, options, (keys, options) => this._hasMany(keys, options))

    const snapshot = nativeSnapshot(options.snapshot)
    const found = binding.hasMany(this.#native(), readFlags(options, snapshot), snapshot, ...keys)
    return inTurn(found, keys.length)
  }

  /** @internal */
  _put(key: Bytes, value: Bytes, options: WriteOptions): void | Promise<void> {
    return binding.put(this.#native(), key, value, writeFlags(options)) ?? turn()
  }

  /** @internal */
  _del(key: Bytes, options: WriteOptions): void | Promise<void> {
    return binding.del(this.#native(), key, writeFlags(options)) ?? turn()
  }

  /** @internal */
  _batch(operations: PrivateOperation[], options: WriteOptions): void | Promise<void> {
    const flat = new Array<Bytes | null>(operations.length * 2)
    let index = 0

    for (const operation of operations) {
      flat[index++] = operation.key
      flat[index++] = operation.type === 'put' ? (operation.value as Bytes) : null
    }

    return this.#write(flat, writeFlags(options)) ?? turn(operations.length)
  }

  /** @internal */
  _chainedBatch(): ChainedBatch<this, KDefault, VDefault> {
    return new ChainedBatch<this, KDefault, VDefault>(this, this.#native())
  }

  /** @internal */
  _clear(options: PrivateIteratorOptions & { limit: number }): Promise<void> {
    const snapshot = nativeSnapshot(options.snapshot)
    let flags = options.reverse ? Flag.reverse : 0
    if (snapshot !== undefined) flags |= Flag.snapshot
    return binding.clear(this.#native(), options, flags, options.limit, snapshot)
  }

  /** @internal */
  _iterator(options: PrivateIteratorOptions): EntryIterator<this, KDefault, VDefault> {
    return new EntryIterator<this, KDefault, VDefault>(this, this.#native(), options)
  }

  /** @internal */
  _keys(options: PrivateIteratorOptions): KeyIterator<this, KDefault> {
    return new KeyIterator<this, KDefault>(this, this.#native(), options)
  }

  /** @internal */
  _values(options: PrivateIteratorOptions): ValueIterator<this, KDefault, VDefault> {
    return new ValueIterator<this, KDefault, VDefault>(this, this.#native(), options)
  }

  /** @internal */
  _snapshot(options: object): Snapshot {
    return new Snapshot(this.#native(), options)
  }

  // ---- helpers ----

  /** The native database, for methods that abstract-level calls only while it is open. */
  #native(): NativeDatabase {
    if (this.#database === null) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return this.#database
  }

  /** The native database, for methods of our own. */
  #open(method: string): NativeDatabase {
    if (this.status !== 'open') {
      throw codedError('LEVEL_DATABASE_NOT_OPEN', `Database is not open: cannot call ${method}()`)
    }

    return this.#native()
  }

  #hasPrewriteHooks(): boolean {
    // The types of abstract-level lack it.
    return !(this as unknown as Database).hooks.prewrite.noop
  }

  async #batch(operations: PublicOperation[], options: (WriteOptions & object) | undefined): Promise<void> {
    if (operations.length === 0) return
    const encoded = encodeOperations(this as unknown as Database, operations, options ?? noOptions)
    await (this.#write(encoded.flat, writeFlags(options ?? noOptions)) ?? turn(operations.length))
    encoded.emit()
  }

  #writeSync(
    method: string,
    operations: PublicOperation[],
    options: (WriteOptions & object) | undefined
  ): void {
    this.#open(method)
    if (this.#hasPrewriteHooks()) {
      throw codedError(
        'LEVEL_NOT_SUPPORTED',
        'Prewrite hooks do not run on synchronous writes: use put(), del() or batch()'
      )
    }

    const encoded = encodeOperations(this as unknown as Database, operations, options ?? noOptions)
    this.#write(encoded.flat, writeFlags(options ?? noOptions) | Flag.blocking)
    encoded.emit()
  }

  /** Writes operations, keys and values in turns, atomically. */
  #write(flat: Array<Bytes | null>, flags: number): void | Promise<void> {
    const database = this.#native()
    if (flat.length <= MAX_SPREAD) return binding.write(database, flags, ...flat)

    const batch = binding.batch(database)
    for (let i = 0; i < flat.length; i += MAX_SPREAD) {
      binding.batchAppend(batch, ...flat.slice(i, i + MAX_SPREAD))
    }
    return binding.batchWrite(batch, flags)
  }

  #get(
    key: Bytes,
    options: PrivateReadOptions,
    flags: number
  ): Bytes | undefined | Promise<Bytes | undefined> {
    const snapshot = nativeSnapshot(options.snapshot)
    const database = this.#native()
    flags |= readFlags(options, snapshot)

    if ((flags & Flag.valuesAsBuffers) === 0) {
      return binding.get(database, key, flags, snapshot) as string | undefined | Promise<string | undefined>
    }

    const found = binding.get(database, key, flags, snapshot, slab.memory(), slab.offset())
    return typeof found === 'number' ? slab.take(found) : found
  }

  async #onRange<T>(
    method: string,
    args: [unknown, unknown, StartEndOptions<unknown>?],
    call: (database: NativeDatabase, start: Bytes, end: Bytes) => Promise<T>
  ): Promise<T> {
    if (args.length < 2) throw new TypeError("The arguments 'start' and 'end' are required")
    if (this.status === 'opening') return this.deferAsync(() => this.#onRange(method, args, call))

    const database = this.#open(method)
    const [start, end, options] = args
    // The types of abstract-level do not follow an encoding from options to keys.
    const encoding = this.keyEncoding(options?.keyEncoding as 'utf8')
    return call(database, encoding.encode(start as string), encoding.encode(end as string))
  }
}

// The types of what abstract-level implements, with the options that this package adds.
export interface Level<KDefault, VDefault> {
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

  put(key: KDefault, value: VDefault): Promise<void>
  put<K = KDefault, V = VDefault>(key: K, value: V, options: PutOptions<K, V>): Promise<void>

  del(key: KDefault): Promise<void>
  del<K = KDefault>(key: K, options: DelOptions<K>): Promise<void>

  iterator(): IteratorType<this, KDefault, VDefault>
  iterator<K = KDefault, V = VDefault>(options: IteratorOptions<K, V>): IteratorType<this, K, V>

  keys(): KeyIteratorType<this, KDefault>
  keys<K = KDefault>(options: KeyIteratorOptions<K>): KeyIteratorType<this, K>

  values(): ValueIteratorType<this, KDefault, VDefault>
  values<K = KDefault, V = VDefault>(options: ValueIteratorOptions<K, V>): ValueIteratorType<this, K, V>

  snapshot(options?: object | undefined): Snapshot
}

const noOptions = Object.freeze({})

/** `result`, unless the event loop should have its turn first. */
function inTurn<T>(result: T | Promise<T>, work = 1): T | Promise<T> {
  const wait = turn(work)
  return wait === undefined || result instanceof Promise ? result : wait.then(() => result)
}

function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
}

function readFlags(options: PrivateReadOptions, snapshot: NativeSnapshot | undefined): number {
  let flags = options.fillCache !== false ? Flag.fillCache : 0
  if (options.valueEncoding !== 'utf8') flags |= Flag.valuesAsBuffers
  if (snapshot !== undefined) flags |= Flag.snapshot
  return flags
}

function writeFlags(options: WriteOptions): number {
  return options.sync === true ? Flag.sync : 0
}
