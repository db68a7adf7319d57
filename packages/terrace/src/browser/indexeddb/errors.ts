/** The errors of IndexedDB, as errors of this package. */

import type { LevelErrorCode } from '../../error-codes.js'
import { browserError, storageError } from '../errors.js'

/** Codes of the errors that this back-end makes. */
export type IndexedDbErrorCode = LevelErrorCode

/** What the browser reports when it has cut a connection, or when its storage process has ended. */
const LOSSES = new Set(['AbortError', 'InvalidStateError', 'UnknownError'])

/**
 * Whether a transaction failed because the connection was lost, or an open because the browser opens no database at the moment.
 */
export function isLoss(error: unknown): boolean {
  return LOSSES.has((error as Error | undefined)?.name ?? '')
}

/** The error of a transaction that ends without a reason. */
export function lossError(): DOMException {
  return new DOMException('The browser has ended the transaction', 'AbortError')
}

/** An error with a code, with what the browser reported as its `cause`. */
export function typedError(error: unknown): Error {
  const reported = storageError(error) as Error & { code?: unknown }
  if (typeof reported.code === 'string') return reported
  const { name, message } = reported
  if (name === 'VersionError') {
    return browserError('LEVEL_UNSUPPORTED_FORMAT', `The database has a newer version: ${message}`, error)
  }
  return browserError('LEVEL_IO_ERROR', `IndexedDB has failed: ${message}`, error)
}
