/** The errors of this package. The addon calls the factory below for every failure. */

import { getSystemErrorName } from 'node:util'
import type { CodedError, CoreErrorCode } from 'terrace-core'

/**
 * Codes of the errors that this package adds to those of
 * [abstract-level](https://github.com/Level/abstract-level#errors), and to those that terrace-core makes.
 */
export type LevelErrorCode =
  | CoreErrorCode
  /** Another instance or process has the database open; the message says what can be done. */
  | 'LEVEL_LOCKED'
  /** Stored bytes are damaged; `path` and `offset` say where. */
  | 'LEVEL_CORRUPTION'
  /** The operating system refused; `cause.code` says why, for example `ENOSPC` on a full disk. */
  | 'LEVEL_IO_ERROR'
  /** There is no database, and `createIfMissing` is false or `readOnly` is true. */
  | 'LEVEL_DATABASE_MISSING'
  /** There is a database, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** A write to a database that was opened with `readOnly`. */
  | 'LEVEL_READ_ONLY'
  /**
   * Another process has written the database on, and the state that this read-only database, or its iterator or snapshot,
   * shows is gone from the disk: call `refresh()`, and read again.
   */
  | 'LEVEL_OUTDATED'
  /** An earlier failure makes further writes unsafe: close the database and open it again. */
  | 'LEVEL_WRITES_REFUSED'
  /** Well-formed bytes of a newer format, or of a fork of LevelDB. */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /** A value that is too large for a JavaScript string or buffer. */
  | 'LEVEL_VALUE_TOO_LARGE'
  /** A bug in this package. */
  | 'LEVEL_INTERNAL_ERROR'

/** An error of a database operation. */
export interface LevelError extends CodedError<LevelErrorCode> {
  /** The file or directory that it concerns. */
  path?: string
  /** The byte in that file at which damage begins. */
  offset?: number
  /** What the operating system said, if it is behind the error; with `code` and `errno` as in `node:fs`. */
  cause?: unknown
}

/** Makes an error of what the addon knows about a failure. */
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

/** What the engine says in terms of its own options, said in terms of ours. */
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
  // A file system that may only be read is the operating system's refusal, unlike the option readOnly.
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

  // On Windows the number is not one that Node has names for.
  if (number !== undefined && process.platform !== 'win32') {
    error.errno = -number
    error.code = getSystemErrorName(-number)
  }

  if (path !== undefined) error.path = path
  return error
}
