/**
 * An [abstract-level](https://github.com/Level/abstract-level) database in an object store.
 *
 * @packageDocumentation
 */

export type { SlateError, SlateErrorCode } from './errors.js'
export { MAX_KEY_SIZE_BYTES } from './keys.js'
export { SlateLevel } from './level.js'
export type { DatabaseOptions, OpenOptions } from './options.js'
