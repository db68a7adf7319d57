/** Options of {@link IndexedDbLevel}. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'

/** Options of {@link IndexedDbLevel.open}. */
export interface IndexedDbOpenOptions extends AbstractOpenOptions {
  /**
   * Whether to open although the browser has no `navigator.locks`, as in pages that do not come by HTTPS or from this machine. It is
   * then for the program to see to it that no other tab, worker or instance has the database open: what one of them writes would
   * show in the iterators and snapshots of the other.
   *
   * @defaultValue `false`
   */
  allowMissingLocks?: boolean | undefined
}

/** Options of the constructor of {@link IndexedDbLevel}. */
export interface IndexedDbDatabaseOptions<K, V>
  extends AbstractDatabaseOptions<K, V>,
    Omit<IndexedDbOpenOptions, 'passive'> {
  /**
   * What the name of the database of IndexedDB begins with, before the location.
   *
   * @defaultValue `'level-js-'`
   */
  prefix?: string | undefined
  /**
   * The version of the database of IndexedDB: an integer from 1 on. A database with a lower one is raised to it.
   *
   * @defaultValue the version that the database has; 1 for a new one
   */
  version?: number | string | undefined
}
