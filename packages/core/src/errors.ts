/** The errors that arise above a back-end. Errors of the back-end itself pass through unchanged. */

/** Codes of the errors that this package adds to those of [abstract-level](https://github.com/Level/abstract-level#errors). */
export type CoreErrorCode =
  /** An argument or option is not valid. */
  | 'LEVEL_INVALID_ARGUMENT'
  /** The encoding cannot store the key, or could not read it back. The message names what it accepts. */
  | 'LEVEL_INVALID_KEY'
  /** The encoding cannot store the value, or could not read it back. The message names what it accepts. */
  | 'LEVEL_INVALID_VALUE'
  /** The database is not open, or has been closed in the meantime. */
  | 'LEVEL_DATABASE_NOT_OPEN'
  /** The database is closed, but something could not be written or released; `cause` is the reason. */
  | 'LEVEL_DATABASE_NOT_CLOSED'
  /** The encoding cannot decode the stored bytes; `cause` is the reason. */
  | 'LEVEL_DECODE_ERROR'
  /** The iterator has been closed. */
  | 'LEVEL_ITERATOR_NOT_OPEN'
  /** The snapshot has been closed. */
  | 'LEVEL_SNAPSHOT_NOT_OPEN'
  /** A hook function failed or returned a promise; `cause` is the reason. The call wrote nothing. */
  | 'LEVEL_HOOK_ERROR'
  /**
   * Hook functions keep adding operations for one another, or a function that waits for its reads keeps reading something
   * else. It is the `cause` of a LEVEL_HOOK_ERROR.
   */
  | 'LEVEL_HOOK_RECURSION'
  /** A hook function added an operation after it had returned, or a chained batch was used after it was written or closed. */
  | 'LEVEL_BATCH_NOT_OPEN'
  /** A condition of the write does not hold; `conditions` has the indices of those that do not. Nothing was written. */
  | 'LEVEL_CONFLICT'
  /** The method or the back-end does not support this. The message names what does. */
  | 'LEVEL_NOT_SUPPORTED'
  /** The signal of an iterator was aborted. */
  | 'LEVEL_ABORTED'

/** An error with a code. */
export interface CodedError<Code extends string = CoreErrorCode> extends Error {
  /** The machine-readable reason. */
  code: Code
  /** The underlying error, if there is one. */
  cause?: unknown
}

/**
 * Creates an error with a code.
 *
 * @param code - Machine-readable reason.
 * @param message - One sentence, for users.
 */
export function codedError<Code extends string = CoreErrorCode>(
  code: Code,
  message: string
): CodedError<Code> {
  return Object.assign(new Error(message), { code })
}

/** The error of a write of which conditions do not hold. */
export interface ConflictError extends CodedError<'LEVEL_CONFLICT'> {
  /** The indices of the conditions that do not hold, ascending. */
  conditions: number[]
}

/**
 * Creates the error of a write of which conditions do not hold.
 *
 * @param failed - The indices of these conditions, ascending.
 * @param count - The number of all its conditions.
 */
export function conflict(failed: number[], count: number): ConflictError {
  const what =
    failed.length === 1
      ? `condition ${(failed[0] as number) + 1} of ${count} does not hold`
      : `${failed.length} of ${count} conditions do not hold`
  return Object.assign(codedError('LEVEL_CONFLICT', `${what}; nothing was written`), { conditions: failed })
}

/** The error for a synchronous call that the back-end cannot serve. */
export function notSynchronous(what: string, work: 'read' | 'write'): CodedError {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    `This database cannot ${work} synchronously, so ${what} is not supported: use the methods that return promises`
  )
}
