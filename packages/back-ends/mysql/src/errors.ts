/** The errors of this package. What the server or the network says is their cause. */

import { type CodedError, type CoreErrorCode, codedError } from 'terrace-core'

/** Codes of the errors that this package adds to those of terrace-core. */
export type MysqlErrorCode =
  | CoreErrorCode
  /** The operation was not done within `deadlineMs`. A write that fails so is not stored, and will not be. */
  | 'LEVEL_DEADLINE'
  /** No connection became free within the deadline. Close iterators and snapshots, or raise `poolSize`. */
  | 'LEVEL_POOL_EXHAUSTED'
  /** No host accepts connections or statements: refused, unreachable, or without a majority of its cluster. */
  | 'LEVEL_UNAVAILABLE'
  /**
   * The connection broke while a transaction was committed, and no host could tell within the deadline whether it was. Each later
   * write fails with the same code, and is not stored, until a database of this process has been opened again there, which
   * decides it first.
   */
  | 'LEVEL_COMMIT_UNKNOWN'
  /** The connection that held the state of a snapshot or an iterator is gone, and the state with it. */
  | 'LEVEL_SNAPSHOT_LOST'
  /** The key is longer than the table can store. Nothing of the call was written. */
  | 'LEVEL_KEY_TOO_LARGE'
  /** The value is larger than the server takes. Nothing of the call was written. */
  | 'LEVEL_VALUE_TOO_LARGE'
  /** The batch is larger than the server takes in one transaction. Nothing of it was written. */
  | 'LEVEL_BATCH_TOO_LARGE'
  /** The database does not exist, and `createIfMissing` is false. */
  | 'LEVEL_DATABASE_MISSING'
  /** The database exists already, and `errorIfExists` is true. */
  | 'LEVEL_DATABASE_EXISTS'
  /** The table is one of another program, or its storage engine cannot keep what is promised here, such as Spider. */
  | 'LEVEL_UNSUPPORTED_FORMAT'
  /** The server refused the user, the password or a privilege. */
  | 'LEVEL_ACCESS_DENIED'
  /** The server failed in another way; `cause` says how. */
  | 'LEVEL_IO_ERROR'

/** An error of a database operation. */
export type MysqlError = CodedError<MysqlErrorCode>

/** @internal */
export function mysqlError(code: MysqlErrorCode, message: string, cause?: unknown): MysqlError {
  const error: MysqlError = codedError(code, message)
  if (cause !== undefined) error.cause = cause
  return error
}
