/** The errors of this package, and the translation of errors from lmdb. */

import { getSystemErrorName } from 'node:util'
import { type CodedError, type CoreErrorCode, codedError } from 'terrace-core'

/** Codes of the errors that this package adds to those of terrace-core. */
export type LmdbErrorCode =
  | CoreErrorCode
  /** The key is longer than LMDB can store. The call wrote nothing. */
  | 'LEVEL_KEY_TOO_LARGE'
  /** The database does not exist, and `createIfMissing` is false or `readOnly` is true. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** A write was called on a database that was opened with `readOnly`. */
  | 'LEVEL_READ_ONLY'
  /** The directory contains something else, or a database in another format version. It was not changed. */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /**
   * For `destroy()`: the database is open, in this process or another one. For `open()`: it is open in this process with
   * `readOnly`, and cannot be opened for writing too.
   */
  | 'LEVEL_LOCKED'
  /** All processes together read from more states at once than `maxReaders` allows. Close iterators and snapshots. */
  | 'LEVEL_TOO_MANY_READERS'
  /** Stored bytes are damaged. */
  | 'LEVEL_CORRUPTION'
  /** The operating system refused an operation; `cause.code` is the reason, for example `ENOSPC` on a full disk. */
  | 'LEVEL_IO_ERROR'

/** An error of a database operation. */
export interface LmdbError extends CodedError<LmdbErrorCode> {
  /** The directory of the database. */
  path?: string
}

/** @internal */
export function lmdbError(code: LmdbErrorCode, message: string, path?: string, cause?: unknown): LmdbError {
  const error: LmdbError = codedError(code, message)
  if (path !== undefined) error.path = path
  if (cause !== undefined) error.cause = cause
  return error
}

/**
 * Whether lmdb could not open a database for writing because this process already has it open to read, in another thread or under
 * another path.
 */
export function isOpenToRead(error: unknown): boolean {
  return /No transaction to renew/.test((error as Error).message)
}

/** lmdb opens a database once per process: if the first instance only reads, later ones cannot write. */
export function openToReadError(path: string, cause?: unknown): LmdbError {
  const message =
    "The database is open in this process with 'readOnly', so it cannot be opened for writing too: " +
    `close it first, or open it for writing before: ${path}`
  return lmdbError('LEVEL_LOCKED', message, path, cause)
}

/** LMDB's own error codes, from lmdb.h, as far as users can react to them. */
const codes: Record<number, LmdbErrorCode> = {
  [-30797]: 'LEVEL_CORRUPTION',
  [-30796]: 'LEVEL_CORRUPTION',
  [-30794]: 'LEVEL_UNSUPPORTED_FORMAT',
  [-30793]: 'LEVEL_UNSUPPORTED_FORMAT',
  [-30790]: 'LEVEL_TOO_MANY_READERS'
}

/**
 * Translates an error of lmdb for users: an error with a code, and lmdb's own error as its cause.
 *
 * @internal
 */
export function translated(error: unknown, path: string): LmdbError {
  const cause = error as NodeJS.ErrnoException
  const number = typeof cause.code === 'number' ? (cause.code as number) : Number(cause.errno ?? 0)
  if (number > 0 && process.platform !== 'win32') {
    // lmdb uses the operating system's number as the code; Node's own errors have the name there.
    Object.assign(cause, { errno: -number, code: systemName(number) ?? cause.code })
  }
  return lmdbError(codes[number] ?? 'LEVEL_IO_ERROR', `LMDB has failed: ${cause.message}`, path, cause)
}

function systemName(number: number): string | undefined {
  try {
    return getSystemErrorName(-number)
  } catch {
    return undefined
  }
}
