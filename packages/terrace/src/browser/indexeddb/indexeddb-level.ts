import { BackendLevel } from 'terrace-core'
import { IndexedDbBackend } from './backend.js'
import { destroyPlace } from './destroy.js'
import type { IndexedDbDatabaseOptions, IndexedDbOpenOptions } from './options.js'
import { placeOf } from './place.js'

/**
 * An ordered key/value database in the browser's IndexedDB, in pages and in workers. It opens databases of browser-level and
 * level-js, and they open its databases.
 *
 * It is the only writer while it is open: another tab, worker or instance that opens the same database fails with LEVEL_LOCKED.
 *
 * A resolved promise of a write means that the browser has committed it, so it survives the end of the page and of the browser. The
 * option `sync` requests that the browser also flush it to the disk (durability `strict`).
 *
 * While an iterator or a snapshot is open, the values that writes replace or delete are read first, and kept in memory.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class IndexedDbLevel<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  /** The location that the constructor was given. */
  readonly location: string
  /** The prefix of the IndexedDB database's name, before the location. */
  readonly namePrefix: string

  /**
   * Makes a database, and starts to open it.
   *
   * @param location - The name of the object store; with the prefix, also that of the IndexedDB database.
   * @throws TypeError if the location or an option is not valid.
   */
  constructor(location: string, options: IndexedDbDatabaseOptions<KDefault, VDefault> = {}) {
    if (typeof location !== 'string' || location === '') {
      throw new TypeError("The first argument 'location' must be a non-empty string")
    }
    const { prefix, version, ...others } = options ?? {}
    const place = placeOf(location, prefix, versionOf(version))
    const backend = new IndexedDbBackend(place)
    super(backend, others)
    backend.onLost = (error) => this.emit('storageLost', error)
    this.location = location
    this.namePrefix = place.name.slice(0, -location.length)
  }

  /**
   * Deletes a database, or does nothing if it does not exist. Waits until connections of other programs, such as browser-level, are
   * closed.
   *
   * @param prefix - The option `prefix`.
   * @throws LEVEL_LOCKED if the database is open.
   */
  static async destroy(location: string, prefix?: string): Promise<void> {
    return destroyPlace(placeOf(location, prefix))
  }
}

// Methods that terrace-core implements, with types that include the options of this class.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface IndexedDbLevel<KDefault, VDefault> {
  open(): Promise<void>
  open(options: IndexedDbOpenOptions): Promise<void>
}

function versionOf(version: number | string | undefined): number | undefined {
  if (version === undefined || version === null || version === '') return undefined
  const number = Number(version)
  if (Number.isSafeInteger(number) && number >= 1) return number
  throw new TypeError("The option 'version' must be an integer from 1 on")
}
