import type {
  AbstractBatchDelOperation,
  AbstractBatchOptions,
  AbstractBatchPutOperation,
  AbstractDatabaseOptions,
  AbstractPutOptions
} from 'abstract-level'
import { codedError } from '../errors.js'

/** What `ttl()` may be told. */
export interface TtlOptions<K, V> extends AbstractDatabaseOptions<K, V> {
  /**
   * How long an entry lives whose write names no `ttlMs`, in milliseconds. Without it such an entry does not expire.
   */
  defaultTtlMs?: number | undefined

  /**
   * How often expired entries are looked for and removed, in milliseconds, 1 to 2^31 - 1. `Infinity` leaves that to
   * calls of `removeExpired()`.
   *
   * @defaultValue `1000`
   */
  checkIntervalMs?: number | undefined

  /**
   * The time in milliseconds since 1970. The latest that it ever told counts, so that time does not go backwards.
   *
   * @defaultValue `Date.now`
   */
  now?: (() => number) | undefined

  /**
   * Is told of what went wrong while expired entries were removed in the background; they are tried again at the next
   * check. Without it a warning is emitted (`process.emitWarning`).
   */
  onError?: ((error: unknown) => void) | undefined
}

/** What a write adds. */
export interface ExpiryOptions {
  /**
   * How long the entry lives, in milliseconds: more than 0; `Infinity` for one that does not expire, whatever the default
   * of the database is.
   *
   * @defaultValue `defaultTtlMs` of the database
   */
  ttlMs?: number | undefined
}

export interface TtlPutOptions<K, V> extends AbstractPutOptions<K, V>, ExpiryOptions {}
export interface TtlBatchOptions<K, V> extends AbstractBatchOptions<K, V>, ExpiryOptions {}
export type TtlBatchOperation<TDatabase, K, V> =
  | (AbstractBatchPutOperation<TDatabase, K, V> & ExpiryOptions)
  | AbstractBatchDelOperation<TDatabase, K>

/** The longest delay of a timer. */
const MAX_INTERVAL_MS = 2 ** 31 - 1

/** Checks how long an entry is to live. @internal */
export function assertTtl(ttlMs: unknown): asserts ttlMs is number {
  if (typeof ttlMs !== 'number' || !(ttlMs > 0)) {
    throw codedError('TTL_INVALID', 'A time to live must be a number of milliseconds above 0')
  }
}

/** Checks how often to look for expired entries. @internal */
export function assertInterval(checkIntervalMs: unknown): asserts checkIntervalMs is number {
  const isTimer =
    typeof checkIntervalMs === 'number' && checkIntervalMs >= 1 && checkIntervalMs <= MAX_INTERVAL_MS
  if (!isTimer && checkIntervalMs !== Infinity) {
    throw codedError('TTL_INVALID', "The option 'checkIntervalMs' must be 1 to 2147483647, or Infinity")
  }
}
