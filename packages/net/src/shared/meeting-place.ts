/** Where the processes that share a database meet, also if the path of its directory is long. */

import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { netError } from '../protocol/errors.js'
import { digestOf, localAddress, MAX_SOCKET_PATH_BYTES } from '../transport/local-socket.js'

/**
 * The address for the database in a directory, which must exist. If the path of a socket in it would be too long for the system, the
 * socket lies in a directory of this user's under that for temporary files.
 *
 * @throws NET_INVALID if that directory is not this user's alone.
 */
export function meetingPlace(location: string): string {
  const address = localAddress(location)
  const path = address.slice('unix:'.length)
  if (process.platform === 'win32' || Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return address
  return `unix:${join(ownDirectory(), digestOf(location))}`
}

/** A directory that nobody but this user can write to, so that no other program can take an owner's place. */
function ownDirectory(): string {
  const user = process.getuid?.() ?? 0
  const directory = join(tmpdir(), `terrace-${user}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const found = lstatSync(directory)
  if (found.isDirectory() && found.uid === user && (found.mode & 0o777) === 0o700) return directory
  throw netError(
    'NET_INVALID',
    `${directory} must be a directory of this user's alone (mode 700): remove it, or set TMPDIR to another directory`
  )
}
