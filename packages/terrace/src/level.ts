import { resolve } from 'node:path'
import {
  assertOpen,
  BackendLevel,
  type Bytes,
  codedError,
  type WatchedWrites,
  type WatchOptions
} from 'terrace-core'
import type { SharedBackend } from 'terrace-net/shared'
import type { LeftOutLog, NativeDatabase, Stats } from './binding.js'
import { binding } from './load-binding.js'
import { NativeBackend } from './native-backend.js'
import {
  type DatabaseOptions,
  nativeOptions,
  type OpenOptions,
  type RepairOptions,
  type StartEndOptions
} from './options.js'
import { assertRange, encodeRange, type RangeArguments } from './range-arguments.js'
import type { RepairReport } from './repair-report.js'
import { removeLeftSockets, share } from './share.js'

/**
 * An ordered key/value database in a directory, in LevelDB's file format.
 *
 * A `get` served from memory, and a write that need not wait, complete within the call and return a promise that has already
 * settled. Work that waits for the disk, for `sync` or for compactions to catch up runs on another thread. Writes take effect in
 * the order in which they are called.
 *
 * An acknowledged write survives a process crash. With the option `sync`, it also survives a power loss.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Level<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string
  readonly #backend: NativeBackend
  readonly #shared: SharedBackend | undefined

  /**
   * Creates an instance and starts opening the database. Await {@link open} to learn whether opening succeeds.
   *
   * @param location - The directory of the database. It is created, with its parents, unless `createIfMissing` is false.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a valid path.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    assertLocation(location)
    const backend = new NativeBackend(resolve(location), options?.multithreading === true)
    const shared = options?.shared === true ? share(backend, resolve(location), options) : undefined
    super(shared ?? backend, options, {
      ...additionalMethods,
      ...(shared !== undefined && { watch: true })
    })
    this.#location = location
    this.#backend = backend
    this.#shared = shared
    backend.onLeftOut = (leftOut) => this.once('open', () => this.emit('leftOut', leftOut))
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /**
   * The log writes that the open left out; usually none. The array is empty unless the database is open and this process owns
   * it. The event `leftOut` reports each item.
   */
  get leftOut(): readonly LeftOutLog[] {
    return this.#backend.leftOut
  }

  /** Whether this process owns the database: always, unless it is shared and another process owns it. */
  get isOwner(): boolean {
    return this.status === 'open' && (this.#shared === undefined || this.#shared.isOwner)
  }

  /** The option `multithreading`: whether other instances in this process may have the same database open. */
  get multithreading(): boolean {
    return this.#backend.multithreading
  }

  /**
   * Estimates how many bytes the entries with keys from `start` up to, but not including, `end` take: compressed on disk and,
   * for recent writes, in memory.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  approximateSize(start: KDefault, end: KDefault): Promise<number>
  approximateSize<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<number>
  async approximateSize(...args: RangeArguments): Promise<number> {
    return this.#onRange('approximateSize', args, binding.approximateSize)
  }

  /**
   * Compacts the keys from `start` to `end`, both inclusive, so that deleted and overwritten entries take no space. Compaction
   * also runs automatically; call this to reclaim space or speed up reads at a time of your choice. One call is enough.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  compactRange(start: KDefault, end: KDefault): Promise<void>
  compactRange<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<void>
  async compactRange(...args: RangeArguments): Promise<void> {
    return this.#onRange('compactRange', args, binding.compactRange)
  }

  /**
   * Copies the current state of the database into a new directory, while writes continue. Tables are hard-linked where the file
   * system allows it, so the copy is quick and takes little space.
   *
   * @param path - A directory that does not exist yet. The copy is a separate database.
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  async checkpoint(path: string): Promise<void> {
    if (typeof path !== 'string' || path === '') {
      throw new TypeError("The first argument 'path' must be a non-empty string")
    }
    assertPath(path, 'path')

    if (this.status === 'opening') return this.deferAsync(() => this.checkpoint(path))
    if (this.#shared !== undefined) return this.#ask<void>(this.#shared, 'checkpoint', resolve(path))
    return binding.checkpoint(this.#native('checkpoint'), resolve(path))
  }

  /**
   * Brings a database that was opened with `readOnly` up to date with what another process has written: later reads see the
   * newest state. Existing iterators and snapshots keep their state. If this fails, the database keeps showing its previous
   * state. Without `readOnly`, it does nothing.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  async refresh(): Promise<void> {
    if (this.status === 'opening') return this.deferAsync(() => this.refresh())
    return binding.refresh(this.#native('refresh'))
  }

  /**
   * Yields all writes to a shared database from this call on, by any process: lists of operations that were written together, in
   * the order in which they took effect. Later reads by this process reflect every write yielded before.
   *
   * It ends without an error when this database is closed.
   *
   * @throws LEVEL_NOT_SUPPORTED at the call if the database was not opened with `shared`. Listen to the event `write` instead.
   * @throws NET_INVALID at the call if the sublevel is not one of this database.
   * @throws NET_MISSED from the iterator if another process has become the owner or none can, or if the consumer was too slow.
   * @throws LEVEL_ABORTED from the iterator once the signal is aborted.
   */
  watch<K = KDefault, V = VDefault>(options: WatchOptions<K, V> = {}): WatchedWrites<K, V> {
    if (this.#shared !== undefined) return this.#shared.watch<K, V>(this, options)
    throw codedError(
      'LEVEL_NOT_SUPPORTED',
      "watch() needs a database opened with 'shared: true': for this one, listen to the event 'write'"
    )
  }

  /**
   * Returns the value of a property, as a string: `leveldb.num-files-at-levelN`, `leveldb.stats`, `leveldb.sstables`,
   * `leveldb.approximate-memory-usage`, or `terrace.has-outgrown-memory` (1 once the tables no longer fit into memory). For an
   * unknown name, it returns an empty string.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  getProperty(property: string): string {
    if (typeof property !== 'string') {
      throw new TypeError("The first argument 'property' must be a string")
    }

    return binding.property(this.#native('getProperty'), property) ?? ''
  }

  /**
   * Returns statistics about the database's size and activity.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  stats(): Stats {
    return binding.stats(this.#native('stats'))
  }

  /**
   * Removes the database at `location`, and its directory if nothing else is in it. Other files are left alone.
   *
   * @throws LEVEL_LOCKED if the database is open.
   */
  static async destroy(location: string): Promise<void> {
    assertLocation(location)
    await binding.destroy(resolve(location))
    removeLeftSockets(resolve(location))
  }

  /**
   * Restores what can be read of a damaged database. Try to open the database first: a repair keeps as much as it can, but some
   * entries may be lost, and deleted keys may reappear. Damaged files are kept in the directory `lost`.
   *
   * @throws LEVEL_LOCKED if the database is open.
   */
  static async repair(location: string, options?: RepairOptions | undefined): Promise<RepairReport> {
    assertLocation(location)
    return binding.repair(resolve(location), nativeOptions(options ?? {}))
  }

  // ---- helpers ----

  /** The native database, for the methods of this class. */
  #native(method: string): NativeDatabase {
    assertOpen(this, method)
    if (this.#shared !== undefined && !this.#shared.isOwner) {
      throw codedError(
        'LEVEL_NOT_SUPPORTED',
        `${method}() is available only in the process that owns this shared database`
      )
    }
    return this.#backend.database
  }

  /** Calls a method of the owner of a shared database. */
  #ask<T>(shared: SharedBackend, method: string, ...args: unknown[]): Promise<T> {
    assertOpen(this, method)
    return shared.call(method, ...args) as Promise<T>
  }

  async #onRange<T>(
    method: 'approximateSize' | 'compactRange',
    args: RangeArguments,
    call: (database: NativeDatabase, start: Bytes, end: Bytes) => Promise<T>
  ): Promise<T> {
    assertRange(args)
    if (this.status === 'opening') return this.deferAsync(() => this.#onRange(method, args, call))

    const range = encodeRange(this, args)
    if (this.#shared !== undefined) return this.#ask<T>(this.#shared, method, ...range)
    return call(this.#native(method), ...range)
  }
}

// Methods that terrace-core implements, with types that include the options of this package.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Level<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}

const additionalMethods = {
  approximateSize: true,
  compactRange: true,
  checkpoint: true,
  refresh: true
}

function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
  assertPath(location, 'location')
}

function assertPath(path: string, name: string): void {
  if (path.includes('\0'))
    throw new TypeError(`The first argument '${name}' must not contain a NUL character`)
}
