/** Options of a database in LMDB. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'

/** Options of {@link LmdbLevel.open}. */
export interface OpenOptions extends AbstractOpenOptions {
  /**
   * Whether to open the database for reading only. Writes then fail with LEVEL_READ_ONLY.
   *
   * @defaultValue `false`
   */
  readOnly?: boolean | undefined

  /**
   * The maximum number of states that all processes together can read from at once. Iterators, snapshots and reads that see
   * the same state share one of these. The first process that opens the database sets this limit, until all have closed it.
   *
   * @defaultValue `1024`
   */
  maxReaders?: number | undefined
}

/** Options of the constructor of {@link LmdbLevel}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, OpenOptions {
  /**
   * Whether other processes also write to the database. Hooks see only the writes of this process, so `db.supports.everyWrite`
   * is then false, and parts of terrace-toolbox that must see every write refuse the database. Several processes may write
   * regardless of this option; without it, hooks miss the writes of the others.
   *
   * @defaultValue `false`
   */
  shared?: boolean | undefined
}

/** @internal */
export const DEFAULT_MAX_READERS = 1024

/** @internal */
export function checkOptions({ readOnly, maxReaders }: OpenOptions): void {
  if (readOnly !== undefined && typeof readOnly !== 'boolean') {
    throw new TypeError("The option 'readOnly' must be a boolean")
  }
  if (maxReaders !== undefined && !(Number.isInteger(maxReaders) && maxReaders > 0 && maxReaders <= 65536)) {
    throw new TypeError("The option 'maxReaders' must be an integer from 1 to 65536")
  }
}
