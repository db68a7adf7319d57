import { MemoryDatabase } from '../../memory-database.js'
import type { MemoryDatabaseOptions } from '../../memory-options.js'
import { loadMap } from '../load-modules.js'
import { MemoryBackend } from './memory-backend.js'

/**
 * An ordered key/value database in memory: `MemoryLevel` in a browser, with the API that it has in Node, in pages and in workers. Opening
 * it loads a WebAssembly module of 59 KB, once a page. It holds up to 4 GiB.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class MemoryLevel<KDefault = string, VDefault = string> extends MemoryDatabase<KDefault, VDefault> {
  /** @param options - Options of the database, and of {@link open}, which is called automatically. */
  constructor(options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  /** @param location - Ignored. It is taken because other databases take one. */
  constructor(location: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  constructor(location?: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault>) {
    super(new MemoryBackend(loadMap), location, options)
  }
}
