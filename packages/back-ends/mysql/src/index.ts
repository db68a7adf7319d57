/**
 * An [abstract-level](https://github.com/Level/abstract-level) database in a table of MariaDB or MySQL.
 *
 * @packageDocumentation
 */

export type { ServerSettings } from './dialect.js'
export type { MysqlError, MysqlErrorCode } from './errors.js'
export { MAX_KEY_SIZE_BYTES } from './keys.js'
export { MysqlLevel } from './level.js'
export type { DatabaseOptions, OpenOptions, ServerOptions, TlsOptions } from './options.js'
