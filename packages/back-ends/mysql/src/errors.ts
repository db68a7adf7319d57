/** The errors of this package. Errors of the server or the network are their causes. */

import { type CodedError, type CoreErrorCode, codedError } from 'terrace-core'

/** Codes of the errors that this package adds to those of terrace-core. */
export type MysqlErrorCode =
  | CoreErrorCode
  /** The operation did not complete within `deadlineMs`. A write that fails with this code is not stored, and will not be. */
  | 'LEVEL_DEADLINE'
  /** No connection became free within the deadline. Close iterators and snapshots, or raise `poolSize`. */
  | 'LEVEL_POOL_EXHAUSTED'
  /** No host accepts connections or statements: all are refusing, unreachable, or without a majority of their cluster. */
  | 'LEVEL_UNAVAILABLE'
  /**
   * The connection broke during a commit, and no host could report within the deadline whether it took place. Every later write
   * fails with the same code, and is not stored, until this process opens a database there again. That open first determines
   * the outcome.
   */
  | 'LEVEL_COMMIT_UNKNOWN'
  /** The connection that held the state of a snapshot or an iterator was lost, and the state with it. */
  | 'LEVEL_SNAPSHOT_LOST'
  /** The key is longer than the table can store. The call wrote nothing. */
  | 'LEVEL_KEY_TOO_LARGE'
  /** The value is larger than the server accepts. The call wrote nothing. */
  | 'LEVEL_VALUE_TOO_LARGE'
  /** The batch is larger than the server accepts in one transaction. None of it was written. */
  | 'LEVEL_BATCH_TOO_LARGE'
  /** The database does not exist, and `createIfMissing` is false. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /**
   * The table belongs to another program, or its storage engine, such as Spider, cannot provide the guarantees of this package.
   */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /** The server refused the user, the password or a privilege. */
  | 'LEVEL_ACCESS_DENIED'
  /** The server failed in another way; see `cause`. */
  | 'LEVEL_IO_ERROR'

/** An error of a database operation. */
export type MysqlError = CodedError<MysqlErrorCode>

/** @internal */
export function mysqlError(code: MysqlErrorCode, message: string, cause?: unknown): MysqlError {
  const error: MysqlError = codedError(code, message)
  if (cause !== undefined) error.cause = cause
  return error
}
