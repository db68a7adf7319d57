/** The errors of this package, and the translation of errors from SlateDB. */

import { type CodedError, type CoreErrorCode, codedError } from 'terrace-core'

/** Codes of the errors that this package adds to those of terrace-core. */
export type SlateErrorCode =
  | CoreErrorCode
  /**
   * Another writer has since opened the database. Writes of this instance that were still pending are not stored.
   * Close it.
   */
  | 'LEVEL_FENCED'
  /** The store did not answer within `deadlineMs`. A write may still take effect; a read has no effect. */
  | 'LEVEL_DEADLINE'
  /** The outcome of an earlier write is unknown. Close the database and open it again. */
  | 'LEVEL_WRITES_REFUSED'
  /** The snapshot of a reader is too old: the store may have removed its data. */
  | 'LEVEL_SNAPSHOT_LOST'
  /** The key is longer than SlateDB can store. The call wrote nothing. */
  | 'LEVEL_KEY_TOO_LARGE'
  /** The value is longer than SlateDB can store. The call wrote nothing. */
  | 'LEVEL_VALUE_TOO_LARGE'
  /** The database does not exist, and `createIfMissing` is false or `readOnly` is true. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** A write was called on a database that was opened with `readOnly`. */
  | 'LEVEL_READ_ONLY'
  /** Stored bytes are damaged or missing. */
  | 'LEVEL_CORRUPTION'
  /** The store refused an operation; see `cause`. */
  | 'LEVEL_IO_ERROR'
  /** The engine has failed. */
  | 'LEVEL_INTERNAL_ERROR'

/** An error of a database operation. */
export interface SlateError extends CodedError<SlateErrorCode> {
  /** The location of the database. */
  location?: string
}

/** @internal */
export function slateError(
  code: SlateErrorCode,
  message: string,
  location?: string,
  cause?: unknown
): SlateError {
  const error: SlateError = codedError(code, message)
  if (location !== undefined) error.location = location
  if (cause !== undefined) error.cause = cause
  return error
}

/** An error of the binding: its kind, and the reason if the handle is closed. */
interface NativeError extends Error {
  readonly tag?: string
  readonly reason?: string
}

const codes: Record<string, SlateErrorCode> = {
  Unavailable: 'LEVEL_IO_ERROR',
  Invalid: 'LEVEL_INVALID_ARGUMENT',
  Data: 'LEVEL_CORRUPTION'
}

const reasons: Record<string, SlateErrorCode> = {
  Fenced: 'LEVEL_FENCED',
  Clean: 'LEVEL_DATABASE_NOT_OPEN'
}

/**
 * Translates an error of SlateDB for users: an error with a code. Errors that already have one are returned
 * unchanged.
 *
 * @internal
 */
export function translated(error: unknown, location: string): Error {
  const { tag, reason, code, message } = error as NativeError & { code?: unknown }
  if (typeof code === 'string' && code.startsWith('LEVEL_')) return error as Error
  const found = tag === 'Closed' ? reasons[reason ?? ''] : codes[tag ?? '']
  if (found === 'LEVEL_FENCED') {
    return slateError(found, `Another writer has opened the database: ${location}`, location, error)
  }
  return slateError(found ?? 'LEVEL_INTERNAL_ERROR', `SlateDB has failed: ${message}`, location, error)
}
