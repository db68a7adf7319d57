import { MemoryBackend } from './memory-backend.js'
import { MemoryDatabase } from './memory-database.js'
import type { MemoryDatabaseOptions } from './memory-options.js'

/**
 * An ordered key/value database in memory, without files or threads. It can replace `MemoryLevel` of the npm package
 * memory-level.
 *
 * Every call does its work before it returns, on the calling thread. The entries belong to the instance: they survive `close()`,
 * are available again after `open()`, and are freed with the instance. Deleted and overwritten entries are freed immediately, or
 * with the last snapshot or iterator that shows them. The option `sync` of writes has no effect.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class MemoryLevel<KDefault = string, VDefault = string> extends MemoryDatabase<KDefault, VDefault> {
  /**
   * Creates an empty database and starts opening it.
   *
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if an option has the wrong type.
   * @throws LEVEL_ENCODING_NOT_SUPPORTED if `storeEncoding` is unknown.
   */
  constructor(options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  /** @param location - Ignored. It is accepted because other databases take a location. */
  constructor(location: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  constructor(location?: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault>) {
    super(new MemoryBackend(), location, options)
  }
}
