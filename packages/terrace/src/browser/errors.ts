import { type CodedError, codedError } from 'terrace-core'
import type { LevelErrorCode } from '../error-codes.js'

/** An error with a code, and what the browser has reported as its cause, if anything. */
export function browserError(
  code: LevelErrorCode,
  message: string,
  cause?: unknown
): CodedError<LevelErrorCode> {
  const error = codedError<LevelErrorCode>(code, message)
  return cause === undefined ? error : Object.assign(error, { cause })
}

/**
 * The error of a browser that refuses to store anything, as one of this package. Others, and those with a code, are returned unchanged.
 */
export function storageError(error: unknown): unknown {
  const { name, message, code } = error as Error & { code?: unknown }
  // The codes of the browser are numbers.
  if (typeof code === 'string') return error
  if (name === 'QuotaExceededError') {
    return browserError(
      'LEVEL_QUOTA_EXCEEDED',
      'The browser gives this site no more space: nothing was written. Remove what the site no longer needs',
      error
    )
  }
  return name === 'SecurityError' ? deniedError(message, error) : error
}

/** The error of a database whose files are gone, or are those of another one. */
export function lostError(): CodedError<LevelErrorCode> {
  return codedError<LevelErrorCode>(
    'LEVEL_STORAGE_LOST',
    'The browser has removed the database while it was open, as it does when the data of the site is cleared. Close it; opening it again makes a new one'
  )
}

/** Whether an error says that the database is gone. */
export function isLost(error: unknown): boolean {
  return (error as Partial<CodedError<LevelErrorCode>> | undefined)?.code === 'LEVEL_STORAGE_LOST'
}

/** The error for a page that may store nothing. */
export function deniedError(reason: string, cause?: unknown): CodedError<LevelErrorCode> {
  return browserError(
    'LEVEL_NOT_SUPPORTED',
    `the browser denies this page its storage, as in a sandboxed frame or where cookies are blocked (${reason})`,
    cause
  )
}
