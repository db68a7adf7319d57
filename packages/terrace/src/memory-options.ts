/** Options of {@link MemoryLevel}. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'
import { codedError } from 'terrace-core'

/** Options of {@link MemoryLevel.open}. */
export interface MemoryOpenOptions extends AbstractOpenOptions {
  /**
   * The maximum size of the entries, in bytes. Each entry counts as the bytes of its key and value, with strings as UTF-8 and
   * keys with the prefixes of sublevels, plus 16. A write that would increase the size to more than this fails with
   * LEVEL_SIZE_LIMIT, and none of it is stored. Entries that only snapshots and iterators still show do not count.
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
   * The format in which memory-level stores keys and values. It is validated but has no effect here: keys and values are stored
   * as bytes, and keys are ordered by their bytes.
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
