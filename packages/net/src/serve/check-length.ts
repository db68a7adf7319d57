/** Refuses addresses that the system would cut off. */

import { parseAddress } from '../transport/address.js'
import { MAX_SOCKET_PATH_BYTES } from '../transport/socket-path.js'
import { UsageError } from './usage-error.js'

/** @throws UsageError if the system has no sockets with a path of that length. */
export function checkLength(address: string): void {
  const parsed = parseAddress(address)
  if (parsed.kind !== 'unix' || process.platform === 'win32') return
  const length = Buffer.byteLength(parsed.path)
  if (length <= MAX_SOCKET_PATH_BYTES) return
  throw new UsageError(
    `the path of a Unix socket may have at most ${MAX_SOCKET_PATH_BYTES} bytes; ${parsed.path} has ${length}. Give a shorter one, ` +
      'such as --listen unix:/run/user/1000/terrace.sock'
  )
}
