import { BackendLevel } from 'terrace-core'
import type { ServerSettings } from './dialect.js'
import { MysqlBackend } from './mysql-backend.js'
import { type DatabaseOptions, type OpenOptions, type ServerOptions, settingsFrom } from './options.js'
import { Target } from './target.js'

/**
 * An ordered key/value database in a table of MariaDB or MySQL, on one server or on the nodes of a Galera cluster. Any number of
 * processes and machines can have it open at once, for reading and writing.
 *
 * Each call is atomic, and calls take effect in order. An acknowledged write has been committed. What it survives depends on the
 * server: see {@link MysqlLevel.server}. The option `sync` of writes has no effect.
 *
 * @typeParam KDefault - The default type of keys.
 * @typeParam VDefault - The default type of values.
 */
export class MysqlLevel<KDefault = string, VDefault = string> extends BackendLevel<KDefault, VDefault> {
  readonly #location: string
  readonly #backend: MysqlBackend

  /**
   * Creates an instance and starts opening the database. Await {@link open} to learn whether opening succeeds.
   *
   * @param location - `mysql://USER:PASSWORD@HOST:PORT,HOST:PORT/SCHEMA`, or `mysqls:` for TLS, with special characters
   * percent-encoded; or the same as an object.
   * @param options - Options of the database, and of {@link open}, which is called automatically.
   * @throws TypeError if `location` or an option is not valid.
   */
  constructor(location: string | ServerOptions, options?: DatabaseOptions<KDefault, VDefault> | undefined) {
    // What is no matter of open(), nor to be kept where it could be printed.
    const { name, table, poolSize, deadlineMs, waitForSync, tls, shared, ...others } = options ?? {}
    const target = new Target(location, tls)
    const settings = settingsFrom({ name, table, poolSize, deadlineMs, waitForSync, shared })
    const backend = new MysqlBackend(target, settings)
    super(backend, others)
    this.#backend = backend
    this.#location = `${target.address}/${settings.table}/${encodeURIComponent(settings.name)}`
  }

  /** The location of the database: its servers, schema, table and name, without the user and the password. */
  get location(): string {
    return this.#location
  }

  /** The settings that the server reported when the database was opened; undefined while the database is not open. */
  get server(): ServerSettings | undefined {
    return this.#backend.server
  }
}

// Methods that terrace-core implements, with types that include the options of this package.
// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface MysqlLevel<KDefault, VDefault> {
  open(): Promise<void>
  open(options: OpenOptions): Promise<void>
}
