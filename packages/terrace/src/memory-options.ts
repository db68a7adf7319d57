/** Options of {@link MemoryLevel}. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'
import { codedError } from 'terrace-core'

/** Options of {@link MemoryLevel.open}. */
export interface MemoryOpenOptions extends AbstractOpenOptions {
  /**
   * The most that the entries may count, in bytes: the bytes of their keys and values, with strings as UTF-8 and keys with the
   * prefixes of sublevels, and 16 for each entry. A write after which they would count more, and more than before, fails with
   * LEVEL_SIZE_LIMIT, and nothing of it is stored. What snapshots and iterators alone still show does not count.
   *
   * @defaultValue `Infinity`
   */
  maxSizeBytes?: number | undefined
}

/** Options of the constructor of {@link MemoryLevel}. */
export interface MemoryDatabaseOptions<K, V>
  extends AbstractDatabaseOptions<K, V>,
    Omit<MemoryOpenOptions, 'passive'> {
  /**
   * How memory-level is to keep keys and values. It is checked, and changes nothing here: keys and values are kept as bytes, keys
   * in the order of their bytes.
   */
  storeEncoding?: 'buffer' | 'view' | 'utf8' | undefined
}

/**
 * Checks the option `storeEncoding`, and takes it off.
 *
 * @throws LEVEL_ENCODING_NOT_SUPPORTED
 * @internal
 */
export function withoutStoreEncoding<K, V>(
  options: MemoryDatabaseOptions<K, V>
): Omit<MemoryDatabaseOptions<K, V>, 'storeEncoding'> {
  const { storeEncoding, ...others } = options
  if (storeEncoding && !['buffer', 'view', 'utf8'].includes(storeEncoding)) {
    throw codedError(
      'LEVEL_ENCODING_NOT_SUPPORTED',
      "The storeEncoding option must be 'buffer', 'view' or 'utf8'"
    )
  }
  return others
}

/**
 * The option `maxSizeBytes`.
 *
 * @throws TypeError
 */
export function limitOf({ maxSizeBytes }: MemoryOpenOptions): number {
  if (maxSizeBytes === undefined || maxSizeBytes === null || maxSizeBytes === Infinity) return Infinity
  if (!Number.isSafeInteger(maxSizeBytes) || maxSizeBytes < 0) {
    throw new TypeError("The option 'maxSizeBytes' must be Infinity or an integer that is not negative")
  }
  return maxSizeBytes
}
