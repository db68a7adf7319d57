/** Reads the users of a server from a file. Its text never gets into an error. */

import { readFileSync, statSync } from 'node:fs'
import type { CodedError } from 'terrace-core'
import type { User } from '../server/options.js'
import { tokensOf } from '../server/schema.js'
import { UsageError } from './usage-error.js'

/** What the group and all others may do with a file. */
const OTHERS_MODE = 0o077

/**
 * Users by their tokens.
 *
 * @throws UsageError if the file cannot be read, if other users of the machine can read it, or if it does not hold users.
 */
export function readTokens(file: string): Readonly<Record<string, User>> {
  const given = objectIn(textOf(file), file)
  if (Object.keys(given).length === 0) throw new UsageError(`${file} lists no users: add at least one token`)
  try {
    return tokensOf(given, 'the file')
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`)
  }
}

function textOf(file: string): string {
  try {
    const isExposed = process.platform !== 'win32' && (statSync(file).mode & OTHERS_MODE) !== 0
    if (isExposed) {
      throw new UsageError(
        `${file} holds secrets, and other users of this machine can read it: chmod 600 ${file}`
      )
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read: ${(error as CodedError<string>).code}`)
  }
}

function objectIn(text: string, file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The message of JSON.parse() quotes the text.
    throw new UsageError(`${file} is not valid JSON`)
  }
  if (isObject(value)) return value
  throw new UsageError(`${file} must hold an object, whose keys are tokens`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
