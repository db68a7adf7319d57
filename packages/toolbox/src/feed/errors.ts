/** The codes of the errors of feed, watch and count. */

import { isName } from '../auxiliary-sublevel.js'

/** Codes of the errors of feeds, watchers and counts. */
export type FeedErrorCode =
  /** An option is not valid. The message names the option and the reason. */
  | 'FEED_INVALID_OPTION'
  /** A feed or count of this name is already open on the same keys. */
  | 'FEED_IN_USE'
  /** The database's hooks cannot read, or the database cannot store keys of arbitrary bytes in byte order. */
  | 'FEED_NOT_SUPPORTED'
  /** The retention limits have removed changes after `after`. A reader can begin at `oldestSequence`. */
  | 'FEED_TRIMMED'
  /** The feed has not reached the number `after`. That number comes from another feed, or from a later copy of this one. */
  | 'FEED_AHEAD'
  /** The feed or its database is closed, or was closed before everything was read. */
  | 'FEED_CLOSED'
  /** The `signal` of a reader was aborted. The error's name is `AbortError`. */
  | 'FEED_ABORTED'
  /** The stored data of a feed or count is not what it wrote. */
  | 'FEED_DAMAGED'
  /** The function `of` of a count threw, or returned something that is not a group. The write is refused. */
  | 'COUNT_GROUP_INVALID'
  /** Counting the existing entries failed; see `cause`. */
  | 'COUNT_BUILD_FAILED'

/** An error of a feed, watcher or count. */
export interface FeedError extends Error {
  /** The machine-readable reason. */
  code: FeedErrorCode
  /** The underlying error, if there is one. */
  cause?: unknown
  /** With `FEED_TRIMMED`: the oldest sequence number retained. The smallest valid `after` is one less. */
  oldestSequence?: number
}

/**
 * Makes an error with a code.
 *
 * @internal
 */
export function feedError(code: FeedErrorCode, message: string, more?: object): FeedError {
  return Object.assign(new Error(message), { code }, more)
}

/**
 * Makes an error about an option.
 *
 * @internal
 */
export function invalidOption(message: string): FeedError {
  return feedError('FEED_INVALID_OPTION', message)
}

/**
 * Checks the name of a feed or a count.
 *
 * @internal
 */
export function assertName(name: unknown): asserts name is string {
  if (!isName(name)) {
    throw invalidOption("The option 'name' must be of letters, digits, '_' and '-'")
  }
}

/**
 * Checks that a reader was not aborted.
 *
 * @internal
 */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw Object.assign(feedError('FEED_ABORTED', 'Reading was aborted', { cause: signal.reason }), {
    name: 'AbortError'
  })
}
