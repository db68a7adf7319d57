import { resolve } from 'node:path'
import { BackendLevel } from 'terrace-core'
import { holdsDatabase, remove } from './directory.js'
import { lmdbError } from './errors.js'
import { LmdbBackend } from './lmdb-backend.js'
import { openings } from './openings.js'
import type { DatabaseOptions, OpenOptions } from './options.js'
import { usersOf } from './users.js'

/**
 * An ordered key/value database in LMDB, in a directory. Several processes can have it open at once, for reading and writing.
 *
 * Reads complete within the call. Writes are passed to another thread, which combines all waiting writes into one transaction.
 * Each call is atomic, and calls take effect in order.
 *
 * An acknowledged write has been flushed to the disk: it survives a process crash and a power loss. The option `sync` of writes
 * has no effect.
 *
 * Conditions of writes hold against all processes and threads. On the main thread, a write with conditions blocks the event loop
 * until it is flushed.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class LmdbLevel<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string

  /**
   * Creates an instance and starts opening the database. Await {@link open} to learn whether opening succeeds.
   *
   * @param location - The directory of the database. It is created, with its parents, unless `createIfMissing` is false.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` is not a valid path.
   */
  constructor(location: string, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    assertLocation(location)
    // Whether others write is no matter of open().
    const { shared, ...others } = options ?? {}
    super(new LmdbBackend(resolve(location), shared === true), others)
    this.#location = location
  }

  /** The location as it was passed to the constructor. */
  get location(): string {
    return this.#location
  }

  /**
   * Removes the database at `location`, and its directory if nothing else is in it. Other files are left alone.
   *
   * @throws LEVEL_LOCKED if the database is open, in this process or another one. Programs that use LMDB without this package are
   * detected only once they have read from it.
   * @throws LEVEL_UNSUPPORTED_FORMAT if the directory contains something else.
   */
  static async destroy(location: string): Promise<void> {
    assertLocation(location)
    const path = resolve(location)
    if (openings.has(path)) {
      throw lmdbError('LEVEL_LOCKED', `The database is open in this process: close it first: ${path}`, path)
    }
    if (!holdsDatabase(path)) return
    // A database that is too damaged to be opened can be removed.
    const [user] = await usersOf(path).catch(() => [])
    if (user !== undefined) {
      const message = `Cannot destroy ${path}: process ${user} has it open. Close it there first.`
      throw lmdbError('LEVEL_LOCKED', message, path)
    }
    await remove(path)
  }
}

// Methods that terrace-core implements, with types that include the options of this package.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface LmdbLevel<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}

function assertLocation(location: unknown): void {
  if (typeof location !== 'string' || location === '') {
    throw new TypeError("The first argument 'location' must be a non-empty string")
  }
  if (location.includes('\0')) {
    throw new TypeError("The first argument 'location' must not contain a NUL character")
  }
}
