/** The errors of this package. The addon calls the factory below for every failure. */

import { constants } from 'node:os'
import { getSystemErrorMap, getSystemErrorName } from 'node:util'
import type { CodedError } from 'terrace-core'
import { codeOf, type LevelErrorCode } from './error-codes.js'

export type { LevelErrorCode }

/** An error of a database operation. */
export interface LevelError extends CodedError<LevelErrorCode> {
  /** The file or directory that the error is about. */
  path?: string
  /** The offset in the file `path` at which the damage begins, in bytes from the start of the file. */
  offset?: number
  /** For LEVEL_CONFLICT: the indices of the conditions that do not hold, ascending. */
  conditions?: number[]
  /** The operating system's error, if there was one, with `code` and `errno` as in `node:fs`. */
  cause?: unknown
}

/** Makes an error from what the addon knows about a failure. */
export type ErrorFactory = (
  kind: string,
  message: string,
  path: string | undefined,
  offset: number | undefined,
  osError: number | undefined,
  osMessage: string | undefined,
  conditions?: number[]
) => Error

/** By kind of error, messages that replace those of the engine, which name its own options. */
const messages: Record<string, string> = {
  NoDatabase: 'Database does not exist',
  AlreadyExists: "Database exists already, and the option 'errorIfExists' is true"
}

/** What to do about a lock, instead of the engine's advice, which follows the last semicolon. */
const UNLOCK =
  "close it there first; to read beside the writer, open it with 'readOnly'; instances of one process share it if all " +
  "set 'multithreading'"

/** What to do about a disk that cannot be written to. */
const READ_ONLY_DISK =
  "to read the existing data, open it with 'readOnly'; to write, choose a directory on another disk"

/** @internal */
export const createError: ErrorFactory = (kind, message, path, offset, osError, osMessage, conditions) => {
  if (kind === 'Argument') return new TypeError(message)

  let code = codeOf(kind)
  // The operating system refuses writes to a read-only file system. That is not the option `readOnly`.
  const isDiskReadOnly = code === 'LEVEL_READ_ONLY' && osMessage !== undefined
  if (isDiskReadOnly) code = 'LEVEL_IO_ERROR'

  const options = osMessage === undefined ? undefined : { cause: systemError(osMessage, osError, path) }
  let text = kind in messages ? `${messages[kind]}: ${path}` : message
  if (code === 'LEVEL_LOCKED') text = text.replace(/(; [^;]*)?$/, `; ${UNLOCK}`)
  if (isDiskReadOnly) text += `; ${READ_ONLY_DISK}`
  const error = Object.assign(new Error(text, options), { code }) as LevelError

  if (path !== undefined) error.path = path
  if (offset !== undefined) error.offset = offset
  if (conditions !== undefined) error.conditions = conditions
  if (kind === 'Aborted') error.name = 'AbortError'

  return error
}

function systemError(message: string, number: number | undefined, path: string | undefined): Error {
  const error: NodeJS.ErrnoException = new Error(message)

  if (number !== undefined) {
    error.errno = process.platform === 'win32' ? errnoOnWindows(number) : -number
    error.code = getSystemErrorName(error.errno)
  }

  if (path !== undefined) error.path = path
  return error
}

/** Node's number for an error number of the C library, which numbers errors differently on Windows. */
function errnoOnWindows(number: number): number {
  const [code] = Object.entries(constants.errno).find(([, known]) => known === number) ?? []
  const [errno] = [...getSystemErrorMap()].find(([, [name]]) => name === code) ?? []
  return errno ?? -number
}
