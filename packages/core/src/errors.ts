/** The errors that are made above a back-end, whose own errors are passed on as they are. */

/** Codes of the errors that this package adds to those of [abstract-level](https://github.com/Level/abstract-level#errors). */
export type CoreErrorCode =
  /** An argument or option that cannot be met. */
  | 'LEVEL_INVALID_ARGUMENT'
  /** The database is not open, or was closed meanwhile. */
  | 'LEVEL_DATABASE_NOT_OPEN'
  /** Stored bytes that the encoding cannot decode; `cause` says why. */
  | 'LEVEL_DECODE_ERROR'
  /** The iterator was closed. */
  | 'LEVEL_ITERATOR_NOT_OPEN'
  /** The snapshot was closed. */
  | 'LEVEL_SNAPSHOT_NOT_OPEN'
  /** A hook function failed or returned a promise; `cause` says why. Nothing of the call was written. */
  | 'LEVEL_HOOK_ERROR'
  /** The cause of an error of a hook: functions add operations for each other without end. */
  | 'LEVEL_HOOK_RECURSION'
  /** A hook function added an operation after it had returned; or a chained batch was written or closed. */
  | 'LEVEL_BATCH_NOT_OPEN'
  /** The method cannot do that, or the back-end cannot; the message says which can. */
  | 'LEVEL_NOT_SUPPORTED'
  /** The signal of an iterator was aborted. */
  | 'LEVEL_ABORTED'

/** An error with a code. */
export interface CodedError<Code extends string = CoreErrorCode> extends Error {
  code: Code
  cause?: unknown
}

/** Makes an error with a code. */
export function codedError<Code extends string = CoreErrorCode>(
  code: Code,
  message: string
): CodedError<Code> {
  return Object.assign(new Error(message), { code })
}

/** The error of something whose work the back-end cannot do within a call. */
export function notSynchronous(what: string, work: 'read' | 'write'): CodedError {
  return codedError(
    'LEVEL_NOT_SUPPORTED',
    `This database cannot ${work} without waiting, so that ${what} is not supported: use the methods that return promises`
  )
}
