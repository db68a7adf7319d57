/** Entries that expire, on any abstract-level database. */

import type { AnyLevel, LevelLike } from '../level-like.js'
import type { TtlOptions } from './options.js'
import { TtlLevel } from './ttl-level.js'

export type {
  ExpiryOptions,
  TtlBatchOperation,
  TtlBatchOptions,
  TtlOptions,
  TtlPutOptions
} from './options.js'
export type { TtlLevel } from './ttl-level.js'

/**
 * Creates a view of `db` whose entries expire: `await sessions.put(key, value, { ttlMs: 60_000 })`. The view is an
 * instance of abstract-level's class, with the encodings of `db` unless the options specify others. When `db` closes, so
 * does the view.
 *
 * @param db - Any abstract-level database or, better, a sublevel of one.
 * @throws TTL_INVALID if an option is not valid.
 * @throws TTL_IN_USE if `db` already has such a view.
 */
export function ttl<KSource, VSource, KDefault = KSource, VDefault = VSource>(
  db: LevelLike<KSource, VSource>,
  options?: TtlOptions<KDefault, VDefault>
): TtlLevel<KDefault, VDefault> {
  return new TtlLevel<KDefault, VDefault>(db as AnyLevel, options ?? {})
}
