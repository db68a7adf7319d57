/** Where a database is served if nothing else is said: on a socket in its directory, or a named pipe on Windows. */

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { parseAddress } from '../transport/address.js'
import { UsageError } from './usage-error.js'

const SOCKET_NAME = 'terrace.sock'

/** The longest path of a Unix socket. Systems cut longer ones off without a word. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** The address for the database in a directory, which must exist. */
export function localAddress(location: string): string {
  if (process.platform !== 'win32') return `unix:${join(location, SOCKET_NAME)}`
  const name = createHash('sha256').update(realpathSync(location)).digest('hex').slice(0, 32)
  return `unix:\\\\.\\pipe\\terrace-${name}`
}

/** @throws UsageError if the system has no sockets with a path of that length. */
export function checkLength(address: string): void {
  const parsed = parseAddress(address)
  if (parsed.kind !== 'unix' || process.platform === 'win32') return
  const length = Buffer.byteLength(parsed.path)
  if (length <= MAX_PATH_BYTES) return
  throw new UsageError(
    `the path of a Unix socket may have at most ${MAX_PATH_BYTES} bytes; ${parsed.path} has ${length}. Give a shorter one, ` +
      'such as --listen unix:/run/user/1000/terrace.sock, or start in the directory above the database with a relative path'
  )
}
