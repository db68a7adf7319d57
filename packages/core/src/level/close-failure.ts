/** The errors of a database that was closed although not everything could be written or released. */

import { type CodedError, codedError } from '../errors.js'

/** The error of a `close()` after which the database is closed. */
export function closedWithError(cause: unknown): CodedError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const error = codedError(
    'LEVEL_DATABASE_NOT_CLOSED',
    `Database is closed, but not everything was written or released: ${reason}`
  )
  return Object.assign(error, { cause })
}

/** Adds an error to the causes of another one. */
export function addCause(error: Error, cause: unknown): void {
  error.cause =
    error.cause === undefined ? cause : new AggregateError([error.cause, cause], 'Several causes: see errors')
}
