import { MemoryBackend } from './memory-backend.js'
import { MemoryDatabase } from './memory-database.js'
import type { MemoryDatabaseOptions } from './memory-options.js'

/**
 * An ordered key/value database in memory, without files or threads. It takes the place of `MemoryLevel` of npm's memory-level.
 *
 * Every call does its work before it returns, on this thread. The entries belong to the instance: they outlive `close()` and are
 * there again after `open()`, and are freed with the instance. Deleted and overwritten entries are freed at once, or with the
 * last snapshot or iterator that shows them. The option `sync` of writes changes nothing.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class MemoryLevel<KDefault = string, VDefault = string> extends MemoryDatabase<KDefault, VDefault> {
  /**
   * Makes an empty database, and starts to open it.
   *
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if an option has the wrong type.
   * @throws LEVEL_ENCODING_NOT_SUPPORTED if `storeEncoding` is unknown.
   */
  constructor(options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  /** @param location - Ignored. It is taken because other databases take one. */
  constructor(location: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  constructor(location?: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault>) {
    super(new MemoryBackend(), location, options)
  }
}
