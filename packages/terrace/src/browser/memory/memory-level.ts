import { MemoryDatabase } from '../../memory-database.js'
import type { MemoryDatabaseOptions } from '../../memory-options.js'
import { loadMap } from '../load-modules.js'
import { MemoryBackend } from './memory-backend.js'

/**
 * An ordered key/value database in memory, for pages and workers. It has the same API as `MemoryLevel` in Node. The first open in
 * a page loads a WebAssembly module of 65 KB. A database holds up to 4 GiB.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class MemoryLevel<KDefault = string, VDefault = string> extends MemoryDatabase<KDefault, VDefault> {
  /** @param options - Options of the database, and of {@link open}, which is called automatically. */
  constructor(options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  /** @param location - Ignored. It is accepted because other databases take a location. */
  constructor(location: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault> | undefined)
  constructor(location?: unknown, options?: MemoryDatabaseOptions<KDefault, VDefault>) {
    super(new MemoryBackend(loadMap), location, options)
  }
}
