/** Options of {@link IndexedDbLevel}. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'

/** Options of {@link IndexedDbLevel.open}. */
export interface IndexedDbOpenOptions extends AbstractOpenOptions {
  /**
   * Whether to open even if the browser has no `navigator.locks`, as in pages that are not served over HTTPS or from this machine.
   * The program must then ensure that no other tab, worker or instance has it open: the writes of one would show in the iterators
   * and snapshots of the other.
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
   * The prefix of the IndexedDB database's name, before the location.
   *
   * @defaultValue `'level-js-'`
   */
  prefix?: string | undefined
  /**
   * The version of the IndexedDB database: an integer from 1 on. A database with a lower version is raised to it.
   *
   * @defaultValue the version that the database has; 1 for a new one
   */
  version?: number | string | undefined
}
