/** Where the processes that share a database meet: a Unix socket in its directory, or a named pipe on Windows. */

import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { netError } from '../protocol/errors.js'

/** The name of the socket in the database's directory. */
export const SOCKET_NAME = 'terrace.sock'

/** The longest path of a socket on every Unix. Linux has four bytes more. */
const MAX_PATH_BYTES = 103

/**
 * The path of the socket or pipe for the database in a directory, which must exist. If the path in the directory would be too
 * long for the system, the socket lies in a directory of this user's under that for temporary files.
 *
 * @throws NET_INVALID if somebody else has made that directory.
 */
export function socketPath(location: string): string {
  const name = createHash('sha256').update(realpathSync(location)).digest('hex').slice(0, 32)
  if (process.platform === 'win32') return `\\\\.\\pipe\\terrace-${name}`
  const path = join(location, SOCKET_NAME)
  return Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : join(ownDirectory(), name)
}

/** A directory that nobody but this user can write to, so that no other program can take an owner's place. */
function ownDirectory(): string {
  const user = process.getuid?.() ?? 0
  const directory = join(tmpdir(), `terrace-${user}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(directory)
  if (uid === user && (mode & 0o777) === 0o700) return directory
  throw netError(
    'NET_INVALID',
    `${directory} is not this user's alone: remove it, or set TMPDIR to another directory`
  )
}
