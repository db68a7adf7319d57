/**
 * Secondary indexes of the records of a database or sublevel.
 *
 * @packageDocumentation
 */

// From a write to an entry: `key-space.ts` (the hook function), `entry-writer.ts` (what a write changes), `definition.ts` (what is
// indexed), `entry-keys.ts`. `builder.ts` makes the entries of records that existed before, `reader.ts` answers queries, `verify.ts`
// compares.

import type { AnyLevel, LevelLike } from '../level-like.js'
import type { IndexOptions } from './options.js'
import { SecondaryIndex } from './secondary-index.js'

export type { IndexError, IndexErrorCode, UniqueError } from './errors.js'
export type { IndexOptions, IndexProgress, IndexRange } from './options.js'
export type { SecondaryIndex } from './secondary-index.js'
export type { IndexReport } from './verify.js'

/**
 * Declares an index of the records of `db`, a database or a sublevel. From now on, each write through `db` updates the index in
 * the same batch, so the index is as durable as the records. An index that is new, or was declared differently before, is built
 * in the background. Declare it each time the database is opened in a process, before the first write.
 *
 * A write with a value that cannot be indexed, or is not unique, fails as a whole. It rejects with LEVEL_HOOK_ERROR, whose
 * `cause` is the index's own error: TOOLBOX_INDEX_VALUE or TOOLBOX_UNIQUE.
 *
 * @throws TOOLBOX_INDEX_INVALID if the options do not declare a valid index.
 * @throws TOOLBOX_INDEX_EXISTS if the database already has an index of this name.
 * @throws TOOLBOX_INDEX_UNSUPPORTED if the database's hooks cannot read, or the database cannot store bytes.
 */
export function index<K, V>(db: LevelLike<K, V>, options: IndexOptions<K, V>): SecondaryIndex<K, V> {
  return new SecondaryIndex(db as unknown as AnyLevel, options)
}
