/** The errors of this package, and what errors of lmdb become. */

import { getSystemErrorName } from 'node:util'
import { type CodedError, type CoreErrorCode, codedError } from 'terrace-core'

/** Codes of the errors that this package adds to those of terrace-core. */
export type LmdbErrorCode =
  | CoreErrorCode
  /** The key is longer than LMDB can store. Nothing of the call was written. */
  | 'LEVEL_KEY_TOO_LARGE'
  /** The database does not exist, and `createIfMissing` is false or `readOnly` is true. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** A write was called on a database that was opened with `readOnly`. */
  | 'LEVEL_READ_ONLY'
  /** The directory holds something else, or a database of another version of LMDB's format. It was left as it is. */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /** The database is open in this process; or it is so with `readOnly`, and was to be opened for writing. */
  | 'LEVEL_LOCKED'
  /** All processes together read from more states at once than `maxReaders` allows. Close iterators and snapshots. */
  | 'LEVEL_TOO_MANY_READERS'
  /** Stored bytes are damaged. */
  | 'LEVEL_CORRUPTION'
  /** The operating system refused. `cause.code` says why, for example `ENOSPC` on a full disk. */
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

/** Whether lmdb could not open a database for writing, because another thread or another path of this process has it open to read. */
export function isOpenToRead(error: unknown): boolean {
  return /No transaction to renew/.test((error as Error).message)
}

/** lmdb opens a database once for all of a process: whoever comes later cannot write if the first one only reads. */
export function openToReadError(path: string, cause?: unknown): LmdbError {
  const message =
    "The database is open in this process with 'readOnly', so it cannot be opened for writing too: " +
    `close it first, or open it for writing before: ${path}`
  return lmdbError('LEVEL_LOCKED', message, path, cause)
}

/** The codes of LMDB itself, from lmdb.h, as far as users can do something about them. */
const codes: Record<number, LmdbErrorCode> = {
  [-30797]: 'LEVEL_CORRUPTION',
  [-30796]: 'LEVEL_CORRUPTION',
  [-30794]: 'LEVEL_UNSUPPORTED_FORMAT',
  [-30793]: 'LEVEL_UNSUPPORTED_FORMAT',
  [-30790]: 'LEVEL_TOO_MANY_READERS'
}

/**
 * What an error of lmdb is for users: an error with a code, and lmdb's own error as its cause.
 *
 * @internal
 */
export function translated(error: unknown, path: string): LmdbError {
  const cause = error as NodeJS.ErrnoException
  const number = typeof cause.code === 'number' ? (cause.code as number) : Number(cause.errno ?? 0)
  if (number > 0 && process.platform !== 'win32') {
    // lmdb gives the operating system's number as the code; Node's own errors have the name there.
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
