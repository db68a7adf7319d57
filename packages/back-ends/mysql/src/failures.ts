/** What errors of the server and the network mean. */

import { type MysqlError, type MysqlErrorCode, mysqlError } from './errors.js'

/** An error of the server or the network, without the statement that it was about, which holds users' data. */
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
    // Errors of the network have negative numbers.
    const number = typeof errno === 'number' && errno > 0 ? errno : 0
    return new Failure(message, code ?? 'UNKNOWN', number, sqlState)
  }
}

/** The server's number for a key that exists already. */
export const DUPLICATE = 1062
/** The server's number for a table that does not exist. */
export const NO_SUCH_TABLE = 1146
/** The server's number for too many connections. */
export const TOO_MANY_CONNECTIONS = new Set([1040, 1203, 1226])

const CONFLICT = new Set([1213, 1205])
/** Not ready in its cluster, shutting down, killed, read-only. */
const HOST_DOWN = new Set([1047, 1053, 1927, 1290, 1836, 4031])
const DENIED = new Set([1044, 1045, 1049, 1142, 1143, 1227, 1698])
const TOO_LARGE_VALUE = new Set([1118, 1153, 1301, 1406])
const TOO_LARGE_BATCH = new Set([1197, 1206])
/** Galera's, which has the number of any unknown error. */
const TOO_LARGE_WRITE_SET = /maximum writeset size exceeded/i

/** Whether the server did not answer, so that the connection is of no use and nobody knows what became of the statement. */
export function isLost(error: unknown): boolean {
  return error instanceof Failure && error.errno === 0
}

/** Whether another transaction was in the way; the whole transaction can be tried again. */
export function isConflict(error: unknown): boolean {
  return error instanceof Failure && CONFLICT.has(error.errno)
}

/** Whether another host may serve what this one did not. */
export function isHostDown(error: unknown): boolean {
  return isLost(error) || (error instanceof Failure && HOST_DOWN.has(error.errno))
}

/** Whether the server refused who or what is asked for, so that no other attempt helps. */
export function isDenied(error: unknown): boolean {
  return error instanceof Failure && DENIED.has(error.errno)
}

/** Whether the host is not trusted: its certificate is not valid for it, or it has no TLS. Another attempt there does not help. */
export function isUntrusted(error: unknown): boolean {
  if (!(error instanceof Failure)) return false
  const { code, message } = error
  // A connection that is lost amid the handshake has the code as well.
  const isCertificate = code === 'HANDSHAKE_SSL_ERROR' && /certificate/i.test(message)
  return isCertificate || code === 'HANDSHAKE_NO_SSL_SUPPORT'
}

/** Whether an error for users says that a transaction has too much in it, so that a part of it may pass. */
export function isTooLarge(error: unknown): boolean {
  const { code } = error as Partial<MysqlError>
  return code === 'LEVEL_BATCH_TOO_LARGE' || code === 'LEVEL_VALUE_TOO_LARGE'
}

/** The error for users. */
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

/** The error for an operation whose time is over. */
export function deadlineError(what: string, cause?: unknown): MysqlError {
  return mysqlError('LEVEL_DEADLINE', `${what} was not done within 'deadlineMs'`, cause)
}
