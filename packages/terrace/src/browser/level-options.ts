/** Options of {@link Level} in a browser. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'
import { size } from '../options.js'

/** Where a browser keeps a database: the origin private file system, IndexedDB, or memory, which is lost when the tab closes. */
export type Storage = 'opfs' | 'indexeddb' | 'memory'

/** A storage, or IndexedDB only for a database that it has already, such as one of level-js or browser-level. */
export type StorageChoice = Storage | 'existing-indexeddb'

/** Options of {@link Level.open}. */
export interface OpenOptions extends AbstractOpenOptions {
  /**
   * The memory for recent writes, in bytes. When it is full, the writes are written to a table.
   *
   * @defaultValue `4 * 1024 * 1024`
   */
  writeBufferSize?: number | undefined

  /**
   * The memory for caching uncompressed blocks of tables, in bytes. 0 disables caching.
   *
   * @defaultValue `16 * 1024 * 1024`
   */
  cacheSize?: number | undefined
}

/**
 * Options with which a back-end is opened.
 *
 * @internal
 */
export interface PlacedOptions extends OpenOptions {
  /** The identity of the database when it was open before: it must be the same one. */
  identity?: string | undefined
}

/** Options of the constructor of {@link Level}. */
export interface DatabaseOptions<K, V>
  extends AbstractDatabaseOptions<K, V>,
    Omit<OpenOptions, 'passive'>,
    PlaceOptions {}

/** Options for where a database is kept, and whether it is shared. */
export interface PlaceOptions {
  /**
   * Where the database may be kept. If several places are given, the first one that the browser supports in this context is
   * used; `db.storage` names it. Entries are not copied between places. If `'existing-indexeddb'` is among them, a database that
   * IndexedDB has already is opened there, whatever its place among them.
   *
   * @defaultValue `['opfs', 'indexeddb']`. In a dedicated worker that does not share the database: `'opfs'`.
   */
  storage?: StorageChoice | readonly StorageChoice[] | undefined

  /**
   * The prefix of the database's name in IndexedDB. The location follows it.
   *
   * @defaultValue `'level-js-'`, like that of browser-level.
   */
  prefix?: string | undefined

  /**
   * Whether the tabs and workers of the site share the database. Otherwise, a single tab or worker owns it, and opening it
   * elsewhere fails with LEVEL_LOCKED, from a page after five seconds. In a dedicated worker, an unshared database has
   * synchronous methods. A page in the browser's back/forward cache releases the database, and reopens it when the user returns.
   *
   * @defaultValue `true` in pages, `false` in dedicated workers
   */
  shared?: boolean | undefined
}

/** The sizes in bytes. The module has 4 GiB at most, so no part of it has more than the limit. */
const sizes = {
  // options.json: sizes (make options)
  cacheSize: { default: 16 << 20, limit: 1 << 30 },
  writeBufferSize: { default: 4 << 20, limit: 1 << 30 }
  // options.json: end
} satisfies Partial<Record<keyof OpenOptions, { default: number; limit: number }>>

/**
 * The sizes of the write buffer and of the cache.
 *
 * @throws TypeError, which names the option, if one has the wrong type.
 * @internal
 */
export function sizesOf(options: OpenOptions): [writeBufferSize: number, cacheSize: number] {
  return [sizeIn(options, 'writeBufferSize'), sizeIn(options, 'cacheSize')]
}

function sizeIn(options: OpenOptions, name: keyof typeof sizes): number {
  return Math.min(size(name, options[name]) ?? sizes[name].default, sizes[name].limit)
}
