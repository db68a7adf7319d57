/** Options of {@link Level} in a browser. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'
import { size } from '../options.js'

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

/** Options of the constructor of {@link Level}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, Omit<OpenOptions, 'passive'> {}

const WRITE_BUFFER_SIZE = 4 << 20
const CACHE_SIZE = 16 << 20

/** The module has 4 GiB at most, so no part of it has more. */
const MAX_SIZE = 1 << 30

/**
 * The sizes of the write buffer and of the cache.
 *
 * @throws TypeError, which names the option, if one has the wrong type.
 * @internal
 */
export function sizesOf(options: OpenOptions): [writeBufferSize: number, cacheSize: number] {
  const writeBufferSize = size('writeBufferSize', options.writeBufferSize) ?? WRITE_BUFFER_SIZE
  const cacheSize = size('cacheSize', options.cacheSize) ?? CACHE_SIZE
  return [Math.min(writeBufferSize, MAX_SIZE), Math.min(cacheSize, MAX_SIZE)]
}
