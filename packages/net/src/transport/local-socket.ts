/** Where programs of one machine meet to share the database in a directory: a Unix socket in it, or a named pipe on Windows. */

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'

const SOCKET_NAME = 'terrace.sock'

/** The longest path of a Unix socket. Systems cut longer ones off without a word. */
export const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** The address for the database in a directory, which must exist. */
export function localAddress(location: string): string {
  if (process.platform !== 'win32') return `unix:${join(location, SOCKET_NAME)}`
  return `unix:\\\\.\\pipe\\terrace-${digestOf(location)}`
}

/** A name for a directory, whatever path leads to it. The system itself tells how a name is spelt where case makes no difference. */
export function digestOf(location: string): string {
  return createHash('sha256').update(realpathSync.native(location)).digest('hex').slice(0, 32)
}
