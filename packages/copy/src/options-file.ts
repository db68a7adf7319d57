/** Files with more options of a database. Their text never gets into an error. */

import { readFileSync, statSync } from 'node:fs'
import type { Redaction } from 'terrace-core'
import { UsageError } from './failure.js'
import { addOptions } from './secrets.js'

/** What the group and all others may do with a file. */
const OTHERS_MODE = 0o077

/**
 * The options in a file.
 *
 * @throws UsageError if the file cannot be read, if other users of the machine can read it, or if it does not hold an object.
 */
export function readOptions(file: string | undefined, redaction: Redaction): Record<string, unknown> {
  if (file === undefined) return {}
  let options: unknown
  try {
    options = JSON.parse(textOf(file))
  } catch (error) {
    if (error instanceof UsageError) throw error
    // The message of JSON.parse() quotes the text.
    throw new UsageError(`${file} is not valid JSON`)
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new UsageError(`${file} must hold an object: the options of the database`)
  }
  addOptions(options, redaction)
  return options as Record<string, unknown>
}

function textOf(file: string): string {
  try {
    const isExposed = process.platform !== 'win32' && (statSync(file).mode & OTHERS_MODE) !== 0
    if (isExposed) {
      throw new UsageError(
        `${file} may hold secrets, and other users of this machine can read it: chmod 600 ${file}`
      )
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
