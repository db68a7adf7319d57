/** The differences between servers, and the settings of each new connection. */

import { mysqlError } from './errors.js'

/** The settings that a server reports about itself. */
export interface ServerSettings {
  readonly version: string
  /** The server's product. */
  readonly product: 'MariaDB' | 'MySQL' | 'TiDB'
  /** Whether the server is a node of a Galera cluster. */
  readonly isClustered: boolean
  /** The maximum size of a packet that the server accepts, in bytes. */
  readonly maxPacketBytes: number
  /** Whether the server flushes each commit to its disk before acknowledging it (`innodb_flush_log_at_trx_commit=1`). */
  readonly flushesCommits: boolean
}

/** The query for {@link settingsOf}. */
export const ASK_SETTINGS = `SHOW VARIABLES WHERE Variable_name IN
  ('version', 'max_allowed_packet', 'innodb_flush_log_at_trx_commit', 'wsrep_on', 'wsrep_provider')`

/** @param rows - The answer to {@link ASK_SETTINGS}: names and values as text, or as bytes on some servers. */
export function settingsOf(rows: ReadonlyArray<readonly unknown[]>): ServerSettings {
  const found = new Map(rows.map(([name, value]) => [`${name}`, `${value}`]))
  const version = found.get('version') ?? ''
  const maxPacketBytes = Number(found.get('max_allowed_packet'))
  if (!(maxPacketBytes > 0)) {
    throw mysqlError(
      'LEVEL_UNSUPPORTED_FORMAT',
      `The server (version ${version || 'unknown'}) does not report its settings: use a supported version of MariaDB or MySQL`
    )
  }
  return {
    version,
    product: /tidb/i.test(version) ? 'TiDB' : /mariadb/i.test(version) ? 'MariaDB' : 'MySQL',
    isClustered: found.get('wsrep_on') === 'ON' && found.get('wsrep_provider') !== 'none',
    maxPacketBytes,
    // TiDB has no such setting: it always waits for a majority of its stores.
    flushesCommits: (found.get('innodb_flush_log_at_trx_commit') ?? '1') === '1'
  }
}

/** The longest time that every server accepts on every platform: 24 days. */
const MAX_WAIT_SECONDS = 2_147_483

/** Preferences that concern sessions. */
export interface SessionOptions {
  readonly waitForSync: boolean
  /** How long a statement waits for the lock of a row, in whole seconds. */
  readonly lockWaitSeconds: number
}

/**
 * The statement that begins a session.
 *
 * Statements are bytes, and all strings in them are binary. READ COMMITTED takes no locks on the gaps between keys, which
 * would make writers of different keys fail; snapshots request REPEATABLE READ themselves.
 */
export function sessionStatement(
  { isClustered }: ServerSettings,
  { waitForSync, lockWaitSeconds }: SessionOptions
): string {
  const settings = [
    'character_set_client=binary',
    'character_set_connection=binary',
    'character_set_results=NULL',
    "sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    'autocommit=1',
    `innodb_lock_wait_timeout=${lockWaitSeconds}`,
    // Otherwise, the server would end the connection of a snapshot that is not read for a while, and the snapshot with it.
    `wait_timeout=${MAX_WAIT_SECONDS}`,
    ...(isClustered ? [`wsrep_sync_wait=${waitForSync ? 1 : 0}`] : [])
  ]
  const session = settings.map((setting) => `SESSION ${setting}`).join(',')
  return `SET ${session};SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`
}

/** The statements that begin a snapshot. */
export function snapshotStatement({ product }: ServerSettings): string {
  const readOnly = product === 'TiDB' ? '' : ', READ ONLY'
  return `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;START TRANSACTION WITH CONSISTENT SNAPSHOT${readOnly}`
}
