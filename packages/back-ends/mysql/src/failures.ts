/** Classifies errors of the server and the network. */

import { type MysqlError, type MysqlErrorCode, mysqlError } from './errors.js'

/** An error of the server or the network. It omits the statement, which contains users' data. */
export class Failure extends Error {
  readonly code: string
  /** The server's number; 0 if the network failed. */
  readonly errno: number
  readonly sqlState: string | undefined

  constructor(message: string, code: string, errno = 0, sqlState?: string) {
    super(message)
    this.name = 'Failure'
    this.code = code
    this.errno = errno
    this.sqlState = sqlState
  }

  static of(error: unknown): Failure {
    const { message, code, errno, sqlState } = error as Error & Partial<Failure>
    // Network errors have negative numbers.
    const number = typeof errno === 'number' && errno > 0 ? errno : 0
    return new Failure(message, code ?? 'UNKNOWN', number, sqlState)
  }
}

/** The server's number for an existing key. */
export const DUPLICATE = 1062
/** The server's number for a missing table. */
export const NO_SUCH_TABLE = 1146
/** The server's number for too many connections. */
export const TOO_MANY_CONNECTIONS = new Set([1040, 1203, 1226])

const CONFLICT = new Set([1213, 1205])
/** Not ready in its cluster, shutting down, killed, or read-only. */
const HOST_DOWN = new Set([1047, 1053, 1927, 1290, 1836, 4031])
const DENIED = new Set([1044, 1045, 1049, 1142, 1143, 1227, 1698])
const TOO_LARGE_VALUE = new Set([1118, 1153, 1301, 1406])
const TOO_LARGE_BATCH = new Set([1197, 1206])
/** Galera's error, which has the number for unknown errors. */
const TOO_LARGE_WRITE_SET = /maximum writeset size exceeded/i

/** Whether the server did not answer, so that the connection is unusable and the outcome of the statement unknown. */
export function isLost(error: unknown): boolean {
  return error instanceof Failure && error.errno === 0
}

/** Whether another transaction conflicted; the whole transaction can be retried. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && CONFLICT.has(error.errno)
}

/** Whether another host may succeed where this one failed. */
export function isHostDown(error: unknown): boolean {
  return isLost(error) || (error instanceof Failure && HOST_DOWN.has(error.errno))
}

/** Whether the server denied access to a user or object, so that retrying does not help. */
export function isDenied(error: unknown): boolean {
  return error instanceof Failure && DENIED.has(error.errno)
}

/** Whether the host is not trusted: its certificate is not valid for it, or it has no TLS. Retrying there does not help. */
export function isUntrusted(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  const { code, message } = error
  // A connection that is lost during the handshake has this code as well.
  const isCertificate = code === 'HANDSHAKE_SSL_ERROR' && /certificate/i.test(message)
  return isCertificate || code === 'HANDSHAKE_NO_SSL_SUPPORT'
}

/** Whether an error for users means that a transaction is too large, so that a part of it may succeed. */
export function isTooLarge(error: unknown): boolean {
  const { code } = error as Partial<MysqlError>
  return code === 'LEVEL_BATCH_TOO_LARGE' || code === 'LEVEL_VALUE_TOO_LARGE'
}

/** Translates an error for users. */
export function translated(error: unknown): MysqlError {
  if (!(error instanceof Failure)) return error as MysqlError
  return mysqlError(codeOf(error), `The server has failed: ${error.message}`, error)
}

function codeOf(error: Failure): MysqlErrorCode {
  if (isHostDown(error) || TOO_MANY_CONNECTIONS.has(error.errno)) return 'LEVEL_UNAVAILABLE'
  if (isConflict(error)) return 'LEVEL_DEADLINE'
  if (isDenied(error)) return 'LEVEL_ACCESS_DENIED'
  if (TOO_LARGE_VALUE.has(error.errno)) return 'LEVEL_VALUE_TOO_LARGE'
  if (TOO_LARGE_BATCH.has(error.errno) || TOO_LARGE_WRITE_SET.test(error.message))
    return 'LEVEL_BATCH_TOO_LARGE'
  return 'LEVEL_IO_ERROR'
}

/** The error for an operation that missed its deadline. */
export function deadlineError(what: string, cause?: unknown): MysqlError {
  return mysqlError('LEVEL_DEADLINE', `${what} was not done within 'deadlineMs'`, cause)
}
