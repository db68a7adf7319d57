/** Advisory locks on keys, within the process. */

import type { AnyLevel, LevelLike } from '../level-like.js'
import { namespaceOf } from './key-names.js'
import { Locks } from './locks.js'

export type { AcquireOptions } from './acquisition.js'
export type { Locks, Release } from './locks.js'

/**
 * Locks on keys.
 *
 * @param owner - A database or a sublevel: its keys, encoded as it does, are locked; a key of a sublevel is the same as that
 * key of the whole database with the sublevel's prefix. Or a string: the name of a namespace of keys of its own.
 * @throws LOCK_INVALID for anything else.
 */
export function lock(namespace: string): Locks<string | Uint8Array>
export function lock<K, V>(db: LevelLike<K, V>): Locks<K>
export function lock(owner: unknown): Locks<never> {
  return new Locks(namespaceOf(owner as AnyLevel | string))
}
