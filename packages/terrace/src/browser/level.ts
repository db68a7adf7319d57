import { assertOpen, BackendLevel, type Bytes } from 'terrace-core'
import type { StartEndOptions } from '../options.js'
import { assertRange, encodeRange, type RangeArguments } from '../range-arguments.js'
import { exportDatabase } from './export-database.js'
import { directoryName, removeDirectory } from './file-pool.js'
import { importDatabase } from './import-database.js'
import { loadStore } from './module.js'
import { StoreBackend } from './store-backend.js'
import type { DatabaseOptions, OpenOptions } from './store-options.js'
import type { ExportOptions, ImportOptions, ImportSource } from './transfer-options.js'

/**
 * An ordered key/value database in a browser's origin-private file system, for use in a dedicated worker: `Level` with the engine that it has
 * in Node. One worker at a time may have it open.
 *
 * Reads and most writes finish within the call. An acknowledged write survives the end of the tab and of the browser. With the option
 * `sync`, it also survives a loss of power.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Level<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string
  readonly #backend: StoreBackend

  /**
   * Makes an instance, and starts to open the database. Await {@link open} to learn whether that succeeds.
   *
   * @param location - The name of the database among those of the origin: any text.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a text.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    assertLocation(location)
    const backend = new StoreBackend(location, loadStore)
    super(backend, options, additionalMethods)
    this.#location = location
    this.#backend = backend
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /**
   * Estimates how many bytes the keys from `start` up to, but not including, `end` take: compressed in files, and in memory for recent
   * writes.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open.
   */
  approximateSize(start: KDefault, end: KDefault): Promise<number>
  approximateSize<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<number>
  async approximateSize(...args: RangeArguments): Promise<number> {
    return this.#onRange('approximateSize', args, (start, end) => this.#backend.approximateSize(start, end))
  }

  /**
   * Compacts the keys from `start` to `end`, both included, so that deleted and overwritten ones take no space. Compactions also run
   * automatically; call this to have the space or the speed at a certain time. One call is enough. Other calls have their turns
   * meanwhile.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is closed before the end.
   */
  compactRange(start: KDefault, end: KDefault): Promise<void>
  compactRange<K = KDefault>(start: K, end: K, options: StartEndOptions<K>): Promise<void>
  async compactRange(...args: RangeArguments): Promise<void> {
    return this.#onRange('compactRange', args, (start, end) => this.#backend.compactRange(start, end))
  }

  /**
   * Yields the files of a LevelDB directory with the state that the database has when the first one is asked for. Writes go on meanwhile.
   * LevelDB and `Level` in Node open a directory of these files, and {@link import} takes them. One file at a time is in memory, mostly
   * up to 8 MiB.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is closed before the end.
   */
  async *export(options: ExportOptions = {}): AsyncGenerator<File, void, void> {
    if (this.status === 'opening') await this.deferAsync(async () => {})
    assertOpen(this, 'export')
    yield* exportDatabase(this.#backend, options)
  }

  /**
   * Makes a database of the files of a LevelDB directory. Unless it succeeds, there is no database, or the one that was there before. Files
   * that do not belong to a database are left out.
   *
   * @param location - The name of the new database.
   * @throws LEVEL_DATABASE_EXISTS if there is a database already, unless the option `overwrite` is true.
   * @throws LEVEL_DATABASE_MISSING if none of the files belongs to a database. LEVEL_CORRUPTION if some are missing or damaged: each table
   * is checked. LEVEL_UNSUPPORTED_FORMAT if they are compressed with zstd.
   * @throws LEVEL_LOCKED if the database is open.
   * @throws LEVEL_QUOTA_EXCEEDED if the browser has no room for them.
   */
  static async import(location: string, files: ImportSource, options: ImportOptions = {}): Promise<void> {
    assertLocation(location)
    return importDatabase(location, loadStore, files, options)
  }

  /**
   * Removes a database, or does nothing if there is none.
   *
   * @throws LEVEL_LOCKED if it is open.
   */
  static async destroy(location: string): Promise<void> {
    assertLocation(location)
    return removeDirectory(directoryName(location))
  }

  async #onRange<T>(
    method: 'approximateSize' | 'compactRange',
    args: RangeArguments,
    call: (start: Bytes, end: Bytes) => T | Promise<T>
  ): Promise<T> {
    assertRange(args)
    if (this.status === 'opening') return this.deferAsync(() => this.#onRange(method, args, call))
    assertOpen(this, method)
    return call(...encodeRange(this, args))
  }
}

const additionalMethods = { approximateSize: true, compactRange: true, export: true }

function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
}

// Methods that terrace-core implements, with types that include the options of this class.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Level<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}
