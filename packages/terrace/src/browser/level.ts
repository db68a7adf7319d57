import { type Backend, BackendLevel } from 'terrace-core'
import { PageBackend } from './page/page-backend.js'
import { backends, hasPlace, storagesOf } from './storage.js'
import type { DatabaseOptions, OpenOptions, PlaceOptions, Storage } from './store-options.js'

/**
 * An ordered key/value database in a browser: `Level` with the engine that it has in Node, on files of the origin-private file system, or
 * else in IndexedDB.
 *
 * In a page, all tabs and workers of the site share it: a worker of one of them has it open. When that tab ends, another one takes its place
 * within a moment. A write that had been sent and not acknowledged then fails with LEVEL_LEADER_LOST, since nobody knows whether it is
 * stored; explicit snapshots end; everything else goes on. Hooks see the writes of their own tab alone.
 *
 * In a dedicated worker, it belongs to that worker, and reads and most writes finish within the call. With the option `shared` it is shared
 * there as well.
 *
 * An acknowledged write survives the end of the tab and of the browser. With the option `sync`, it also survives a loss of power.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class Level<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string
  /** What shares the database, or where it is. */
  readonly #place: PageBackend | Storage

  /**
   * Makes an instance, and starts to open the database. Await {@link open} to learn whether that succeeds.
   *
   * @param location - The name of the database among those of the origin: any text.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a text, or an option is not valid.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    if (typeof location !== 'string' || location === '') {
      throw new TypeError("The first argument 'location' must be a non-empty string")
    }
    const [backend, place] = backendOf(location, options ?? {})
    super(backend, options)
    this.#location = location
    this.#place = place
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /** Where the entries are kept. Undefined until the database is open for the first time, if it is shared. */
  get storage(): Storage | undefined {
    return typeof this.#place === 'string' ? this.#place : this.#place.storage
  }

  /** Whether this tab, or this worker, has the database open itself, and serves the others. */
  get isOwner(): boolean {
    return this.status === 'open' && (typeof this.#place === 'string' || this.#place.isOwner)
  }
}

// Methods that terrace-core implements, with types that include the options of this class.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface Level<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}

function backendOf(
  location: string,
  { storage, prefix, shared }: PlaceOptions
): [Backend, PageBackend | Storage] {
  const storages = storagesOf(storage)
  if (shared ?? !isDedicatedWorker()) {
    const backend = new PageBackend(location, { storage: storages, prefix })
    return [backend, backend]
  }
  // What the methods can do is known before the database opens, so the place is, too.
  const own = storages ?? ['opfs']
  const place = own.find(hasPlace) ?? (own[0] as Storage)
  return [backends[place](location, { prefix }), place]
}

function isDedicatedWorker(): boolean {
  const { DedicatedWorkerGlobalScope: scope } = globalThis as {
    DedicatedWorkerGlobalScope?: new () => object
  }
  return scope !== undefined && globalThis instanceof scope
}
