/**
 * Secondary indexes. From a write to an entry: `key-space.ts` (the hook function), `entry-writer.ts` (what a write changes),
 * `definition.ts` (what is indexed), `entry-keys.ts`. `builder.ts` makes the entries of records that were there before,
 * `reader.ts` answers queries, `verify.ts` compares.
 *
 * @packageDocumentation
 */

import type { AnyLevel, LevelLike } from '../level-like.js'
import type { IndexOptions } from './options.js'
import { SecondaryIndex } from './secondary-index.js'

export type { IndexError, IndexErrorCode, UniqueError } from './errors.js'
export type { IndexOptions, IndexProgress, IndexRange } from './options.js'
export type { SecondaryIndex } from './secondary-index.js'
export type { IndexReport } from './verify.js'

/**
 * Declares an index of the records of `db`, a database or a sublevel. From now on each write through `db` changes the index
 * in the same batch; an index that is new, or was declared otherwise before, is built in the background. Declare it each
 * time the database is opened in a process, before the first write.
 *
 * A value that cannot be indexed, or is not unique, refuses its whole write: LEVEL_HOOK_ERROR, with the index's own error
 * as `cause`: TOOLBOX_INDEX_VALUE or TOOLBOX_UNIQUE.
 *
 * @throws TOOLBOX_INDEX_INVALID for options that declare no index, TOOLBOX_INDEX_EXISTS if there is one of this name,
 * TOOLBOX_INDEX_UNSUPPORTED for a database without `getSync` or that cannot store bytes
 */
export function index<K, V>(db: LevelLike<K, V>, options: IndexOptions<K, V>): SecondaryIndex<K, V> {
  return new SecondaryIndex(db as unknown as AnyLevel, options)
}
