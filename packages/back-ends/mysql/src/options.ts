/** Options of a database in a table of MariaDB or MySQL. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'

/** The servers and the credentials. The credentials never appear in errors or in printed objects. */
export interface ServerOptions {
  /**
   * The hosts, in the order in which they are tried, each as `HOST` or `HOST:PORT`. All must serve the same data, as the nodes of
   * a Galera cluster do. The default port is 3306.
   */
  hosts: readonly string[]
  user: string
  password?: string | undefined
  /** The schema, which the server calls a database. It must exist. */
  schema: string
}

/** Options of TLS, as in `node:tls`. By default, the server's certificate must be valid and issued for the host's name. */
export interface TlsOptions {
  ca?: string | Buffer | undefined
  cert?: string | Buffer | undefined
  key?: string | Buffer | undefined
  passphrase?: string | undefined
  minVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
  /**
   * Whether the server's certificate must be valid.
   *
   * @defaultValue `true`
   */
  rejectUnauthorized?: boolean | undefined
  /**
   * Whether the certificate must be issued for the host's name. Only names are compared, so hosts given as addresses are refused
   * unless this is `false`.
   *
   * @defaultValue `true`
   */
  verifyIdentity?: boolean | undefined
}

/** Options of {@link MysqlLevel.open}. */
export type OpenOptions = AbstractOpenOptions

/** Options of the constructor of {@link MysqlLevel}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, OpenOptions {
  /**
   * The name of the database within the table, of 1 to 255 bytes.
   *
   * @defaultValue `'default'`
   */
  name?: string | undefined

  /**
   * The table, a name of at most 48 letters, digits and underscores. If the table does not exist, it is created, along with two
   * others whose names begin with its name. Many databases can share a table.
   *
   * @defaultValue `'terrace'`
   */
  table?: string | undefined

  /**
   * The maximum number of connections from this process to these servers. All databases of the process on these servers share
   * them; the largest of their values applies. Each open snapshot or iterator holds a connection. An eighth of the connections is
   * reserved for other operations.
   *
   * @defaultValue `32`
   */
  poolSize?: number | undefined

  /**
   * How long an operation may take, from the call, before it fails with LEVEL_DEADLINE, in milliseconds. If the outcome of a
   * commit must be determined, the write may take the same time again, or 10 seconds if that is longer.
   *
   * @defaultValue `10000`
   */
  deadlineMs?: number | undefined

  /**
   * Whether a read on a node of a Galera cluster first waits for all writes acknowledged on other nodes.
   *
   * @defaultValue `true`
   */
  waitForSync?: boolean | undefined

  /**
   * Whether to use TLS, and its options. With `mysqls:` in the URL, the default is `true`.
   *
   * @defaultValue `false`
   */
  tls?: boolean | TlsOptions | undefined

  /**
   * Whether other programs may also write to the database, which is easy on a server. Hooks see only the writes of this instance,
   * so `db.supports.everyWrite` is then false, and parts of terrace-toolbox that must see every write refuse the database. Set it
   * to `false` only if no other instance writes.
   *
   * @defaultValue `true`
   */
  shared?: boolean | undefined
}

/** The options of a database, checked. @internal */
export interface Settings {
  readonly name: string
  readonly table: string
  readonly poolSize: number
  readonly deadlineMs: number
  readonly waitForSync: boolean
  readonly shared: boolean
}

const MAX_NAME_BYTES = 255

/** @internal */
export function settingsFrom(options: DatabaseOptions<unknown, unknown>): Settings {
  const { name = 'default', table = 'terrace', poolSize = 32, deadlineMs = 10_000 } = options
  const { waitForSync = true, shared = true } = options
  if (typeof name !== 'string' || name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new TypeError(`The option 'name' must be a string of 1 to ${MAX_NAME_BYTES} bytes`)
  }
  if (!(Number.isInteger(poolSize) && poolSize >= 2 && poolSize <= 10_000)) {
    throw new TypeError("The option 'poolSize' must be an integer from 2 to 10000")
  }
  // The limit of Node's timers.
  if (!(Number.isInteger(deadlineMs) && deadlineMs >= 1 && deadlineMs < 2 ** 31)) {
    throw new TypeError("The option 'deadlineMs' must be an integer from 1 to 2147483647")
  }
  for (const [option, value] of Object.entries({ waitForSync, shared })) {
    if (typeof value !== 'boolean') throw new TypeError(`The option '${option}' must be a boolean`)
  }
  return { name, table, poolSize, deadlineMs, waitForSync, shared }
}
