/** Reads the users of a server from a file. Its text never gets into an error. */

import { readFileSync, statSync } from 'node:fs'
import type { CodedError } from 'terrace-core'
import type { User } from '../server/options.js'
import { Guard } from '../server/permissions.js'
import { UsageError } from './usage-error.js'

/** What the group and all others may do with a file. */
const OTHERS_MODE = 0o077

/**
 * Users by their tokens.
 *
 * @throws UsageError if the file cannot be read, if other users of the machine can read it, or if it does not hold users.
 */
export function readTokens(file: string): Record<string, User> {
  const users = Object.entries(objectIn(textOf(file), file))
  if (users.length === 0) throw new UsageError(`${file} has no users, so nobody could connect`)
  for (const [index, [token, user]] of users.entries()) {
    try {
      check(token, user)
    } catch (error) {
      throw new UsageError(`${file}, user ${index + 1}: ${(error as Error).message}`)
    }
  }
  return Object.fromEntries(users) as Record<string, User>
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

function check(token: string, user: unknown): void {
  if (token === '') throw new Error('its token is empty')
  if (!isObject(user)) throw new Error('it must be an object such as { "name": "ada" }')
  const { name, permissions, ...others } = user
  if (typeof name !== 'string' || name === '') throw new Error("it needs a 'name'")
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new Error(`'${unknown}' is neither 'name' nor 'permissions'`)
  if (permissions === undefined) return
  if (!isObject(permissions)) throw new Error("'permissions' must be an object")
  // Reports what makes no sense.
  new Guard(permissions as never)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
