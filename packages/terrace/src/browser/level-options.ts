/** Options of {@link Level} in a browser. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'
import { size } from '../options.js'

/** Where a browser keeps a database: the origin-private file system, IndexedDB, or memory, which ends with the tab. */
export type Storage = 'opfs' | 'indexeddb' | 'memory'

/** Options of {@link Level.open}. */
export interface OpenOptions extends AbstractOpenOptions {
  /**
   * Memory for recent writes, in bytes. Beyond it, they are written to a table.
   *
   * @defaultValue `4 * 1024 * 1024`
   */
  writeBufferSize?: number | undefined

  /**
   * Memory for uncompressed blocks of tables that were read, in bytes. 0 turns caching off.
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

/** Where a database is, and whether it is shared. */
export interface PlaceOptions {
  /**
   * Where the database may be kept. Of several places, the first one that the browser supports here is used; `db.storage` is its
   * name. Entries are not copied from one to another.
   *
   * @defaultValue `['opfs', 'indexeddb']`. In a dedicated worker that does not share the database: `'opfs'`.
   */
  storage?: Storage | readonly Storage[] | undefined

  /**
   * The prefix of the name of a database in IndexedDB, before the location.
   *
   * @defaultValue `'level-js-'`, like that of browser-level.
   */
  prefix?: string | undefined

  /**
   * Whether the tabs and workers of the site share the database. Otherwise a single one owns it, and opening it elsewhere fails
   * with LEVEL_LOCKED, from a page after five seconds; a dedicated worker then has synchronous methods. A page in the browser's
   * back/forward cache releases the database, and reopens it when the user returns.
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
