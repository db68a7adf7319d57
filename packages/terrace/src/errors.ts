/** The errors of this package. The addon calls the factory below for every failure. */

import { getSystemErrorName } from 'node:util'
import type { CodedError, CoreErrorCode } from 'terrace-core'

/**
 * Codes of the errors that this package adds to those of
 * [abstract-level](https://github.com/Level/abstract-level#errors), and to those that terrace-core makes.
 */
export type LevelErrorCode =
  | CoreErrorCode
  /** Another instance or process has the database open. The message says what to do. */
  | 'LEVEL_LOCKED'
  /** Stored bytes are damaged. `path` and `offset` say where. */
  | 'LEVEL_CORRUPTION'
  /** The operating system refused. `cause.code` says why, for example `ENOSPC` on a full disk. */
  | 'LEVEL_IO_ERROR'
  /** The database does not exist, and `createIfMissing` is false or `readOnly` is true. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** A write was called on a database that was opened with `readOnly`. */
  | 'LEVEL_READ_ONLY'
  /**
   * Another process has written to the database since, and the state that this read-only database, or its iterator or snapshot,
   * shows is gone from the disk. Call `refresh()` and read again.
   */
  | 'LEVEL_OUTDATED'
  /** An earlier failure makes further writes unsafe. Close the database and open it again. */
  | 'LEVEL_WRITES_REFUSED'
  /** The bytes are well-formed, but of a newer format or of a fork of LevelDB. */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /** The value is too large for a JavaScript string or buffer. */
  | 'LEVEL_VALUE_TOO_LARGE'
  /** There is a bug in this package. */
  | 'LEVEL_INTERNAL_ERROR'

/** An error of a database operation. */
export interface LevelError extends CodedError<LevelErrorCode> {
  /** The file or directory concerned. */
  path?: string
  /** The byte in that file at which the damage begins, counted from 0. */
  offset?: number
  /** The operating system's error, if there was one, with `code` and `errno` as in `node:fs`. */
  cause?: unknown
}

/** Makes an error from what the addon knows about a failure. */
export type ErrorFactory = (
  kind: string,
  message: string,
  path: string | undefined,
  offset: number | undefined,
  osError: number | undefined,
  osMessage: string | undefined
) => Error

const codes: Record<string, LevelErrorCode> = {
  InvalidArgument: 'LEVEL_INVALID_ARGUMENT',
  NoDatabase: 'LEVEL_DATABASE_MISSING',
  AlreadyExists: 'LEVEL_DATABASE_EXISTS',
  Locked: 'LEVEL_LOCKED',
  Corruption: 'LEVEL_CORRUPTION',
  Unsupported: 'LEVEL_UNSUPPORTED_FORMAT',
  Io: 'LEVEL_IO_ERROR',
  DiskFull: 'LEVEL_IO_ERROR',
  ReadOnly: 'LEVEL_READ_ONLY',
  Closed: 'LEVEL_DATABASE_NOT_OPEN',
  Poisoned: 'LEVEL_WRITES_REFUSED',
  Outdated: 'LEVEL_OUTDATED',
  Aborted: 'LEVEL_ABORTED',
  TooLarge: 'LEVEL_VALUE_TOO_LARGE'
}

/** Messages that the engine words in terms of its own options, in terms of this package's options instead. */
const messages: Record<string, string> = {
  NoDatabase: 'Database does not exist',
  AlreadyExists: "Database exists already, and the option 'errorIfExists' is true"
}

/** What to do about a lock. */
const UNLOCK =
  "close it there first; to read beside the writer, open it with 'readOnly'; instances of one process share it if all " +
  "set 'multithreading'"

/** @internal */
export const createError: ErrorFactory = (kind, message, path, offset, osError, osMessage) => {
  if (kind === 'Argument') return new TypeError(message)

  let code = codes[kind] ?? 'LEVEL_INTERNAL_ERROR'
  // The operating system refuses writes to a read-only file system. That is not the option `readOnly`.
  if (code === 'LEVEL_READ_ONLY' && osMessage !== undefined) code = 'LEVEL_IO_ERROR'

  const options = osMessage === undefined ? undefined : { cause: systemError(osMessage, osError, path) }
  let text = kind in messages ? `${messages[kind]}: ${path}` : message
  if (code === 'LEVEL_LOCKED') text += ` (${UNLOCK})`
  const error = Object.assign(new Error(text, options), { code }) as LevelError

  if (path !== undefined) error.path = path
  if (offset !== undefined) error.offset = offset
  if (kind === 'Aborted') error.name = 'AbortError'

  return error
}

function systemError(message: string, number: number | undefined, path: string | undefined): Error {
  const error: NodeJS.ErrnoException = new Error(message)

  // On Windows, Node has no names for these numbers.
  if (number !== undefined && process.platform !== 'win32') {
    error.errno = -number
    error.code = getSystemErrorName(-number)
  }

  if (path !== undefined) error.path = path
  return error
}
