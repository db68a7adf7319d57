/** Errors in leveldown's form: messages that begin with LevelDB's words, with the code, path and cause of Terrace's. */

/** An error of a database. */
export interface LevelDownError extends Error {
  /** The code of Terrace's error, such as LEVEL_LOCKED. */
  code?: string
  /** The file or directory concerned. */
  path?: string
}

interface Known extends LevelDownError {
  cause?: unknown
}

/** LevelDB's word for each code. An error with another code is passed on unchanged. */
const WORDS: Record<string, string> = {
  LEVEL_LOCKED: 'IO error',
  LEVEL_IO_ERROR: 'IO error',
  LEVEL_WRITES_REFUSED: 'IO error',
  LEVEL_OUTDATED: 'IO error',
  LEVEL_QUOTA_EXCEEDED: 'IO error',
  LEVEL_STORAGE_LOST: 'IO error',
  LEVEL_LEADER_LOST: 'IO error',
  LEVEL_CORRUPTION: 'Corruption',
  LEVEL_DATABASE_MISSING: 'Invalid argument',
  LEVEL_DATABASE_EXISTS: 'Invalid argument',
  LEVEL_INVALID_ARGUMENT: 'Invalid argument',
  LEVEL_VALUE_TOO_LARGE: 'Invalid argument',
  LEVEL_SIZE_LIMIT: 'Invalid argument',
  LEVEL_READ_ONLY: 'Not implemented',
  LEVEL_UNSUPPORTED_FORMAT: 'Not implemented',
  LEVEL_NOT_SUPPORTED: 'Not implemented'
}

/** Whether the length of stacks can be set: not where the language's own objects are frozen. */
const hasLimit = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable === true

/** The error of a get of a key that does not exist. It has no stack, which would take longer than the get. */
export function notFound(message: string): LevelDownError {
  const { stackTraceLimit } = Error
  if (hasLimit) Error.stackTraceLimit = 0
  const error = new Error(message) as LevelDownError
  if (hasLimit) Error.stackTraceLimit = stackTraceLimit
  error.code = 'LEVEL_NOT_FOUND'
  return error
}

/** The error of a call on a database that is not open. */
export function notOpen(message = 'Database is not open'): LevelDownError {
  return Object.assign(new Error(message), { code: 'LEVEL_DATABASE_NOT_OPEN' })
}

/** The error of a call that a database cannot serve. */
export function notSupported(message: string): LevelDownError {
  return Object.assign(new Error(`Not implemented: ${message}`), { code: 'LEVEL_NOT_SUPPORTED' })
}

/**
 * An error of Terrace in leveldown's form.
 *
 * @param location - The location as the program gave it.
 */
export function translated(error: unknown, location: string | undefined): Error {
  const cause = error as Known
  if (!(cause instanceof Error)) return new Error(String(cause))
  const { code, path } = cause
  if (code === 'LEVEL_DATABASE_NOT_OPEN') return Object.assign(notOpen(), { cause })
  const word = code === undefined ? undefined : WORDS[code]
  if (code === undefined || word === undefined) return cause
  return withCause(`${word}: ${details(code, cause, location)}`, code, path, cause)
}

/** The error of `open()`. An option of the wrong type is an invalid argument. */
export function openError(error: Error): Error {
  return error instanceof TypeError
    ? withCause(`Invalid argument: ${error.message}`, 'LEVEL_INVALID_ARGUMENT', undefined, error)
    : error
}

/** Why opening or closing failed, without the error around it that says no more. */
export function reasonOf(error: unknown): unknown {
  let reason = error as Known
  while (
    (reason?.code === 'LEVEL_DATABASE_NOT_OPEN' || reason?.code === 'LEVEL_DATABASE_NOT_CLOSED') &&
    reason.cause instanceof Error
  ) {
    reason = reason.cause
  }
  return reason
}

function details(code: string, { message, path }: Known, location: string | undefined): string {
  const place = location ?? path ?? 'the database'
  switch (code) {
    case 'LEVEL_LOCKED':
      return `lock ${place}/LOCK: ${/\bin this process\b/.test(message) ? 'already held by process' : 'Resource temporarily unavailable'}`
    case 'LEVEL_DATABASE_MISSING':
      return `${place}: does not exist (create_if_missing is false)`
    case 'LEVEL_DATABASE_EXISTS':
      return `${place}: exists (error_if_exists is true)`
    default:
      return message
  }
}

function withCause(message: string, code: string, path: string | undefined, cause: Error): LevelDownError {
  return Object.assign(new Error(message, { cause }), { code, ...(path !== undefined && { path }) })
}
