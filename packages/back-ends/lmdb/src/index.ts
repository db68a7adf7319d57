/**
 * An [abstract-level](https://github.com/Level/abstract-level) database in LMDB.
 *
 * @packageDocumentation
 */

export type { LmdbError, LmdbErrorCode } from './errors.js'
export { MAX_KEY_SIZE_BYTES } from './keys.js'
export { LmdbLevel } from './level.js'
export type { DatabaseOptions, OpenOptions } from './options.js'
