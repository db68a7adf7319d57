/** The codes of the errors of feed, watch and count. */

import { isName } from '../aside.js'

/** Codes of the errors of this part. */
export type FeedErrorCode =
  /** An option that cannot be: the message says which and why. */
  | 'FEED_INVALID_OPTION'
  /** A feed or count of this name is open on the same keys already. */
  | 'FEED_IN_USE'
  /** The database cannot keep keys of any bytes in their order. */
  | 'FEED_NOT_SUPPORTED'
  /**
   * Changes after `after` were removed by the retention limits; `oldestSequence` says where one can begin.
   */
  | 'FEED_TRIMMED'
  /**
   * `after` is a number that this feed has not reached: it was read from another feed, or a later copy of it.
   */
  | 'FEED_AHEAD'
  /** The feed, or its database, was closed before all was read, or is closed. */
  | 'FEED_CLOSED'
  /** The `signal` of a reader was aborted. The error is named `AbortError`. */
  | 'FEED_ABORTED'
  /** What is stored of a feed or count is not what it wrote. */
  | 'FEED_DAMAGED'
  /** `of` of a count threw or returned what is no group; the write is refused. */
  | 'COUNT_GROUP_INVALID'
  /** Counting the existing entries failed; `cause` says why. */
  | 'COUNT_BUILD_FAILED'

/** An error of this part. */
export interface FeedError extends Error {
  code: FeedErrorCode
  cause?: unknown
  /** With `FEED_TRIMMED`: the oldest sequence number retained. `after` may be one less than it. */
  oldestSequence?: number
}

/** An error with a code. @internal */
export function feedError(code: FeedErrorCode, message: string, more?: object): FeedError {
  return Object.assign(new Error(message), { code }, more)
}

/** An error about an option. @internal */
export function invalidOption(message: string): FeedError {
  return feedError('FEED_INVALID_OPTION', message)
}

/** Checks the name of a feed or a count. @internal */
export function assertName(name: unknown): asserts name is string {
  if (!isName(name)) {
    throw invalidOption("The option 'name' must be of letters, digits, '_' and '-'")
  }
}

/** Whether a reader was told to stop. @internal */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw Object.assign(feedError('FEED_ABORTED', 'Reading was aborted', { cause: signal.reason }), {
    name: 'AbortError'
  })
}
