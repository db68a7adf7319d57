import type {
  AbstractBatchDelOperation,
  AbstractBatchOptions,
  AbstractBatchPutOperation,
  AbstractDatabaseOptions,
  AbstractPutOptions
} from 'abstract-level'
import { codedError } from '../errors.js'

/** Options of {@link ttl}. */
export interface TtlOptions<K, V> extends AbstractDatabaseOptions<K, V> {
  /**
   * How long an entry lives if its write has no `ttlMs`, in milliseconds. Without this option, such an entry does not expire.
   */
  defaultTtlMs?: number | undefined

  /**
   * How often expired entries are searched for and removed, in milliseconds, 1 to 2^31 - 1. With `Infinity`, only calls of
   * `removeExpired()` remove them.
   *
   * @defaultValue `1000`
   */
  checkIntervalMs?: number | undefined

  /**
   * A function that returns the time in milliseconds since 1970. The latest time that it has ever returned applies, so that
   * time never moves backwards.
   *
   * @defaultValue `Date.now`
   */
  now?: (() => number) | undefined

  /**
   * Called with errors that occur when expired entries are removed in the background. The next check retries these entries.
   * Without this function, a warning is emitted (`process.emitWarning`).
   */
  onError?: ((error: unknown) => void) | undefined
}

/** Additional options of writes on a view. */
export interface ExpiryOptions {
  /**
   * How long the entry lives, in milliseconds: more than 0; `Infinity` for an entry that never expires, regardless of the
   * database's default.
   *
   * @defaultValue `defaultTtlMs` of the database
   */
  ttlMs?: number | undefined
}

/** Options of `put()` on a view. */
export interface TtlPutOptions<K, V> extends AbstractPutOptions<K, V>, ExpiryOptions {}
/** Options of `batch()` on a view. */
export interface TtlBatchOptions<K, V> extends AbstractBatchOptions<K, V>, ExpiryOptions {}
/** An operation of `batch()` on a view; each put may have its own time to live. */
export type TtlBatchOperation<K, V> =
  // The type of a sublevel's database is left open for the reason that `BatchOperation` of terrace-core gives.
  // biome-ignore lint/suspicious/noExplicitAny: as above
  (AbstractBatchPutOperation<any, K, V> & ExpiryOptions) | AbstractBatchDelOperation<any, K>

/** The longest delay of a timer. */
const MAX_INTERVAL_MS = 2 ** 31 - 1

/**
 * Checks a time to live.
 *
 * @internal
 */
export function assertTtl(ttlMs: unknown): asserts ttlMs is number {
  if (typeof ttlMs !== 'number' || !(ttlMs > 0)) {
    throw codedError('TTL_INVALID', 'A time to live must be a number of milliseconds above 0')
  }
}

/**
 * Checks the interval between searches for expired entries.
 *
 * @internal
 */
export function assertInterval(checkIntervalMs: unknown): asserts checkIntervalMs is number {
  const isTimer =
    typeof checkIntervalMs === 'number' && checkIntervalMs >= 1 && checkIntervalMs <= MAX_INTERVAL_MS
  if (!isTimer && checkIntervalMs !== Infinity) {
    throw codedError('TTL_INVALID', "The option 'checkIntervalMs' must be 1 to 2147483647, or Infinity")
  }
}
