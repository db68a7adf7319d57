/**
 * Where programs of one machine meet to share the database in a directory: at a Unix socket in it, or a named pipe on Windows. It
 * follows from the directory itself. What path leads there, and the environment, make no difference.
 */

import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { netError } from '../protocol/errors.js'
import { identityOf } from './identity.js'

const SOCKET_NAME = 'terrace.sock'

/** The longest path of a Unix socket. Systems cut longer ones off without a word. */
export const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/**
 * The address for the database in a directory. If the path of a socket in it would be too long for the system, the socket is in
 * `/tmp/terrace-UID`.
 *
 * @throws ENOENT or another error of the system if there is no database.
 * @throws NET_INVALID if `/tmp/terrace-UID` is not this user's alone.
 */
export function sharedAddress(location: string): string {
  // The system itself knows how a name is spelt where case makes no difference.
  const directory = realpathSync.native(location)
  if (process.platform === 'win32') return `unix:\\\\.\\pipe\\terrace-${digestOf(directory)}`
  const path = join(directory, SOCKET_NAME)
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return `unix:${path}`
  return `unix:${join(ownDirectory(), digestOf(identityOf(directory)))}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/**
 * A directory to which only this user can write, so that no other program can take an owner's place. Not that of `TMPDIR`: programs
 * with different environments must meet.
 */
function ownDirectory(): string {
  const user = process.getuid?.() ?? 0
  const directory = `/tmp/terrace-${user}`
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const found = lstatSync(directory)
  if (found.isDirectory() && found.uid === user && (found.mode & 0o777) === 0o700) return directory
  throw netError(
    'NET_INVALID',
    `The path of the database is too long for a socket, and ${directory}, which takes its place, is not a directory of this user's ` +
      'alone (mode 700): remove it, or move the database to a shorter path'
  )
}
