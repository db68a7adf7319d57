import { assertOpen, BackendLevel, type Bytes, codedError } from 'terrace-core'
import type { StartEndOptions } from '../options.js'
import { assertRange, encodeRange, type RangeArguments } from '../range-arguments.js'
import type { RepairReport } from '../repair-report.js'
import { type BrowserBackend, type Maintained, maintained } from './browser-backend.js'
import { FallbackBackend } from './fallback-backend.js'
import type { DatabaseOptions, OpenOptions, PlaceOptions, Storage } from './level-options.js'
import { loadStore } from './load-modules.js'
import { importDatabase } from './opfs/import-database.js'
import { backends, destroyFirst, hasPlace, openFirst, repairFirst, storagesOf } from './storage.js'
import { OwnBackend, openInPage } from './tabs/own-backend.js'
import { openShared } from './tabs/tabs-backend.js'
import { destroyInWorker, importInWorker, repairInWorker } from './tabs/worker-tasks.js'
import type { ExportOptions, ImportOptions, ImportSource } from './transfer-options.js'

/**
 * An ordered key/value database in a browser. It runs the same engine as `Level` in Node on files in the origin private file
 * system, or else keeps its entries in IndexedDB.
 *
 * In a page, all tabs and workers of the site share the database; a worker of one tab has it open. When that tab closes, another
 * one takes over within moments. A write that was sent but not acknowledged then fails with LEVEL_LEADER_LOST, since it may or
 * may not be stored. Explicit snapshots are lost; everything else continues. Hooks see only the writes of the same tab.
 *
 * In a dedicated worker, the database belongs to that worker, and reads and most writes complete within the call. With the option
 * `shared: true`, it is shared there as well. With `shared: false`, only this page has the database open, through a dedicated
 * worker.
 *
 * An acknowledged write outlives the tab and the browser. With the option `sync`, it also survives a power loss.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Level<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string
  readonly #backend: BrowserBackend

  /**
   * Creates an instance and starts opening the database. Await {@link open} to learn whether opening succeeds.
   *
   * @param location - The name of the database, unique within the origin. It can be any text.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a string, or an option is not valid.
   * @throws LEVEL_INVALID_ARGUMENT if `location` contains a lone surrogate.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    assertLocation(location)
    // As in browser-level, the options for the database's place reach neither `open()` nor hook functions that receive its options.
    const { storage, prefix, shared, ...others } = options ?? {}
    const backend = backendOf(location, { storage, prefix, shared })
    super(backend, others, backend.approximateSize === undefined ? {} : additionalMethods)
    this.#location = location
    this.#backend = backend
    backend.onLost = (error) => this.emit('storageLost', error)
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /** Where the entries are kept. If the database is shared, this is undefined until it is open for the first time. */
  get storage(): Storage | undefined {
    return this.#backend.storage
  }

  /** Whether this tab or worker owns the database, and serves the others. */
  get isOwner(): boolean {
    return this.status === 'open' && this.#backend.isOwner !== false
  }

  /**
   * Estimates how many bytes the entries with keys from `start` up to, but not including, `end` take: compressed in files and,
   * for recent writes, in memory.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  approximateSize(start: KDefault, end: KDefault): Promise<number>
  approximateSize<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<number>
  async approximateSize(...args: RangeArguments): Promise<number> {
    return this.#onRange('approximateSize', args, (backend, start, end) =>
      backend.approximateSize(start, end)
    )
  }

  /**
   * Compacts the keys from `start` to `end`, both inclusive, so that deleted and overwritten entries take no space. Compaction
   * also runs automatically; call this to reclaim space or speed up reads at a time of your choice. One call is enough. Other
   * operations continue meanwhile.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is closed before this completes.
   */
  compactRange(start: KDefault, end: KDefault): Promise<void>
  compactRange<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<void>
  async compactRange(...args: RangeArguments): Promise<void> {
    return this.#onRange('compactRange', args, (backend, start, end) => backend.compactRange(start, end))
  }

  /**
   * Yields the files of a LevelDB directory that contains the state of the database at the time the first file is requested.
   * Writes continue meanwhile. LevelDB and `Level` in Node can open a directory of these files, and {@link import} accepts them.
   * Only one file at a time is in memory, usually of at most 8 MiB.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is closed before this completes.
   */
  async *export(options: ExportOptions = {}): AsyncGenerator<File, void, void> {
    if (this.status === 'opening') await this.deferAsync(async () => {})
    assertOpen(this, 'export')
    yield* maintained(this.#backend, 'export').export(options)
  }

  /**
   * Creates a database from the files of a LevelDB directory. Until the import succeeds, no database is created, and an existing
   * one stays unchanged. Files that do not belong to a database are ignored.
   *
   * @param location - The name of the new database.
   * @throws LEVEL_DATABASE_EXISTS if the database already exists, unless the option `overwrite` is true.
   * @throws LEVEL_DATABASE_MISSING if none of the files belongs to a database.
   * @throws LEVEL_CORRUPTION if some files are missing or damaged: each table is checked.
   * @throws LEVEL_UNSUPPORTED_FORMAT if the files are compressed with zstd.
   * @throws LEVEL_LOCKED if the database is open.
   * @throws LEVEL_QUOTA_EXCEEDED if the browser has no room for the files.
   */
  static async import(location: string, files: ImportSource, options: ImportOptions = {}): Promise<void> {
    assertLocation(location)
    return isDedicatedWorker()
      ? importDatabase(location, loadStore, files, options)
      : importInWorker(location, files, options)
  }

  /**
   * Removes a database, or does nothing if there is none.
   *
   * @param options - Where the database is kept, as for the constructor. If several places are given, it is the first one that
   * the browser supports.
   * @throws LEVEL_LOCKED if the database is open. From a page, this fails after five seconds.
   */
  static async destroy(
    location: string,
    options: Pick<PlaceOptions, 'storage' | 'prefix'> = {}
  ): Promise<void> {
    assertLocation(location)
    const { prefix } = options
    const storage = storagesOf(options.storage)
    return isDedicatedWorker()
      ? destroyFirst(location, { storage, prefix })
      : destroyInWorker(location, { storage, prefix })
  }

  /**
   * Restores what can be read of a damaged database in the origin private file system. Try to open the database first: a repair
   * keeps as much as it can, but some entries may be lost, and deleted keys may reappear. Until the repair has succeeded, the
   * database stays unchanged, even if the repair is interrupted. It blocks a dedicated worker that calls it, but not a page.
   *
   * Damaged files, and files whose entries were merged into new ones, continue to take space in the database's directory `lost`.
   * To reclaim that space, import the export of the repaired database with `overwrite`, or call {@link destroy}.
   *
   * @param options - Where the database is kept, as for the constructor. If several places are given, it is the first one that
   * the browser supports.
   * @throws LEVEL_LOCKED if the database is open. From a page, this fails after five seconds.
   * @throws LEVEL_DATABASE_MISSING if the database does not exist.
   * @throws LEVEL_NOT_SUPPORTED if the database is in IndexedDB or in memory, where there is nothing to repair.
   * @throws LEVEL_IO_ERROR if there are not enough free files for the restored data.
   * @throws LEVEL_QUOTA_EXCEEDED if the browser has no room for the restored data.
   * @throws LEVEL_CORRUPTION if both copies of the map of files are damaged.
   */
  static async repair(location: string, options: Pick<PlaceOptions, 'storage'> = {}): Promise<RepairReport> {
    assertLocation(location)
    const storage = storagesOf(options.storage)
    return isDedicatedWorker() ? repairFirst(location, { storage }) : repairInWorker(location, { storage })
  }

  async #onRange<T>(
    method: 'approximateSize' | 'compactRange',
    args: RangeArguments,
    call: (backend: Maintained, start: Bytes, end: Bytes) => T | Promise<T>
  ): Promise<T> {
    assertRange(args)
    if (this.status === 'opening') return this.deferAsync(() => this.#onRange(method, args, call))
    assertOpen(this, method)
    return call(maintained(this.#backend, method), ...encodeRange(this, args))
  }
}

// Methods that terrace-core implements, with types that include the options of this class.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Level<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}

const additionalMethods = { approximateSize: true, compactRange: true, export: true }

function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
  // Files, locks and channels are named after it, and each would replace such a half with something else.
  if (/\p{Surrogate}/u.test(location)) {
    throw codedError(
      'LEVEL_INVALID_ARGUMENT',
      "The first argument 'location' is not well-formed: it has a lone surrogate"
    )
  }
}

function backendOf(location: string, { storage, prefix, shared }: PlaceOptions): BrowserBackend {
  const storages = storagesOf(storage)
  const isInWorker = isDedicatedWorker()
  if (shared ?? !isInWorker) {
    return new FallbackBackend(location, { storage: storages, prefix }, openShared, { shared: true })
  }
  // Whether IndexedDB has the database already is known only once it has been asked.
  if (storages?.includes('existing-indexeddb')) {
    return new FallbackBackend(location, { storage: storages, prefix }, isInWorker ? openFirst : openInPage)
  }
  const own = (storages ?? ['opfs']) as readonly Storage[]
  const [place = own[0] as Storage, ...others] = own.filter((each) => mayHave(each, isInWorker))
  // A page has synchronous files only in a worker, which finds out whether the browser has any.
  if (place === 'opfs' && !isInWorker) {
    const places = { storage: storages, prefix }
    return storages?.length === 1
      ? new OwnBackend(location, places)
      : new FallbackBackend(location, places, openInPage)
  }
  // Memory is always available. The script of IndexedDB is loaded when the database opens.
  if (place === 'indexeddb' || (place !== 'memory' && others.length > 0)) {
    return new FallbackBackend(location, { storage: own, prefix })
  }
  return backends[place](location)
}

/** Whether a place is likely to be available, for a page through a worker. */
function mayHave(place: Storage, isInWorker: boolean): boolean {
  return hasPlace(place) || (place === 'opfs' && !isInWorker)
}

function isDedicatedWorker(): boolean {
  const { DedicatedWorkerGlobalScope: scope } = globalThis as {
    DedicatedWorkerGlobalScope?: new () => object
  }
  return scope !== undefined && globalThis instanceof scope
}
