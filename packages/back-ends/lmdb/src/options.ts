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
   * The most states that all processes together can read from at once. Iterators, snapshots and reads that see the same state
   * share it. The first process that opens the database decides, until all have closed it.
   *
   * @defaultValue `1024`
   */
  maxReaders?: number | undefined
}

/** Options of the constructor of {@link LmdbLevel}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, OpenOptions {
  /**
   * Whether other processes write to the database too. Hooks see the writes of this process alone, so
   * `db.supports.everyWrite` is then false, and parts of terrace-toolbox that must see every write refuse the database. Several
   * processes may write whatever this option is; without it, hooks miss what the others write.
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
