/** Advisory locks on keys, within the process. */

import type { AnyLevel, LevelLike } from '../level-like.js'
import { namespaceOf } from './key-names.js'
import { Locks } from './locks.js'

export type { AcquireOptions } from './acquisition.js'
export type { Locks, Release } from './locks.js'

/**
 * Returns the locks on the keys of a namespace.
 *
 * @param namespace - The name of the namespace. Each namespace has a separate set of keys.
 * @throws LOCK_INVALID if the argument is neither a string nor a database.
 */
export function lock(namespace: string): Locks<string | Uint8Array>
/**
 * Returns the locks on the keys of a database.
 *
 * @param db - A database or a sublevel: its keys are locked in encoded form. A key of a sublevel is the same key as that of
 *   the whole database with the sublevel's prefix.
 * @throws LOCK_INVALID if the argument is neither a string nor a database.
 */
export function lock<K, V>(db: LevelLike<K, V>): Locks<K>
export function lock(owner: unknown): Locks<never> {
  return new Locks(namespaceOf(owner as AnyLevel | string))
}
