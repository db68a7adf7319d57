/** Options of a database in an object store. */

import type { AbstractDatabaseOptions, AbstractOpenOptions } from 'abstract-level'

/** Options of {@link SlateLevel.open}. */
export interface OpenOptions extends AbstractOpenOptions {
  /**
   * Whether to open the database for reading only, even while another instance writes to it. Writes then fail with
   * LEVEL_READ_ONLY. The instance shows what the writer had stored at the last refresh. See {@link refreshIntervalMs}.
   *
   * @defaultValue `false`
   */
  readOnly?: boolean | undefined

  /**
   * When a write without `sync` is acknowledged.
   *
   * - `'store'`: when it is in the store.
   * - `'memory'`: when it is visible to reads of this instance. If the process dies, the acknowledged writes of the last
   *   {@link DatabaseOptions.flushIntervalMs} and of a running flush are lost: always the newest ones, and never only a part of a
   *   batch.
   *
   * @defaultValue `'store'`
   */
  acknowledge?: 'store' | 'memory' | undefined

  /**
   * How long an operation may take, in milliseconds, before it fails with LEVEL_DEADLINE. Until then, the engine retries. It must
   * be more than {@link DatabaseOptions.flushIntervalMs}.
   *
   * @defaultValue `60000`
   */
  deadlineMs?: number | undefined

  /**
   * How often the engine checks whether another writer has taken over or a compaction has ended, in milliseconds. Each check costs
   * requests. A writer that takes over from one that keeps writing may have to wait this long.
   *
   * @defaultValue `5000`
   */
  pollIntervalMs?: number | undefined

  /**
   * With `readOnly`: how often to check for newly stored data, in milliseconds.
   *
   * @defaultValue `10000`
   */
  refreshIntervalMs?: number | undefined

  /**
   * With `readOnly`: how long iterators and snapshots can be used, in milliseconds. A reader that dies keeps files from being
   * removed for up to four times as long.
   *
   * @defaultValue `3600000`
   */
  snapshotLifetimeMs?: number | undefined
}

/** Options of the constructor of {@link SlateLevel}. */
export interface DatabaseOptions<K, V> extends AbstractDatabaseOptions<K, V>, OpenOptions {
  /**
   * Settings of the store in addition to those in the environment, under the same names: `AWS_ACCESS_KEY_ID`,
   * `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT`, `AWS_ALLOW_HTTP`, and so on.
   */
  storeOptions?: Readonly<Record<string, string>> | undefined

  /**
   * How long a write waits, in milliseconds, so that it can share a request to the store with other writes. Writes with `sync` do
   * not wait. With 0, writes only wait for a running request.
   *
   * @defaultValue `100`
   */
  flushIntervalMs?: number | undefined
}

/** Options with their defaults. */
export interface Settings {
  readonly createIfMissing: boolean
  readonly errorIfExists: boolean
  readonly readOnly: boolean
  readonly acknowledge: 'store' | 'memory'
  readonly deadlineMs: number
  readonly pollIntervalMs: number
  readonly refreshIntervalMs: number
  readonly snapshotLifetimeMs: number
}

const MAX_MS = 2 ** 31 - 1

/**
 * Checks options and fills in the defaults.
 *
 * @throws TypeError
 */
export function settingsOf(options: OpenOptions, flushIntervalMs: number): Settings {
  const { readOnly, acknowledge = 'store' } = options
  if (readOnly !== undefined && typeof readOnly !== 'boolean') {
    throw new TypeError("The option 'readOnly' must be a boolean")
  }
  if (acknowledge !== 'store' && acknowledge !== 'memory') {
    throw new TypeError("The option 'acknowledge' must be 'store' or 'memory'")
  }

  const milliseconds = (name: keyof OpenOptions, byDefault: number, least = 1, most = MAX_MS): number =>
    integerOf(name, options[name] ?? byDefault, least, most)
  const deadlineMs = milliseconds('deadlineMs', 60_000)
  if (deadlineMs <= flushIntervalMs) {
    throw new TypeError("The option 'deadlineMs' must be more than 'flushIntervalMs', for which writes wait")
  }
  return {
    createIfMissing: options.createIfMissing !== false,
    errorIfExists: options.errorIfExists === true,
    readOnly: readOnly === true,
    acknowledge,
    deadlineMs,
    pollIntervalMs: milliseconds('pollIntervalMs', 5000, 10),
    refreshIntervalMs: milliseconds('refreshIntervalMs', 10_000, 10),
    snapshotLifetimeMs: milliseconds('snapshotLifetimeMs', 3_600_000, 1000, MAX_MS >> 1)
  }
}

/**
 * The option `flushIntervalMs`, or its default.
 *
 * @throws TypeError
 */
export function flushIntervalOf(value: unknown): number {
  return integerOf('flushIntervalMs', value ?? 100, 0, MAX_MS)
}

function integerOf(name: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  throw new TypeError(`The option '${name}' must be an integer from ${least} to ${most}`)
}
