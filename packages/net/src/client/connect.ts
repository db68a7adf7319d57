/** Makes connections from Node. Browser builds replace this file with `connect-browser.ts`, which exports the same functions. */

import { connect as connectTcp, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { WebSocket } from 'ws'
import { type Address, parseAddress } from '../transport/address.js'
import { SocketTransport } from '../transport/socket.js'
import { MAX_SOCKET_PATH_BYTES } from '../transport/socket-path.js'
import type { Transport } from '../transport/transport.js'
import { type WebSocketLike, whenOpen } from '../transport/web-socket.js'

export { parseAddress }

/**
 * Makes an address independent of the working directory: its path becomes absolute, unless that is too long for a socket.
 *
 * @throws NET_INVALID if it is not an address.
 */
export function fixedAddress(text: string): string {
  const address = parseAddress(text)
  if (address.kind !== 'unix' || process.platform === 'win32') return text
  const path = resolve(address.path)
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? `unix:${path}` : text
}

/** Options of the connection itself. */
export interface ConnectOptions {
  /** Options of Node's `tls.connect()`, for `tls:` and `wss:`: `ca`, `cert`, `key`, `servername` and so on. */
  readonly tls?: ConnectionOptions
}

/** Connects. The promise rejects if nothing is listening, or once the signal is aborted. */
export async function connect(
  address: Address,
  options: ConnectOptions,
  signal: AbortSignal
): Promise<Transport> {
  signal.throwIfAborted()
  switch (address.kind) {
    case 'unix':
      return connected(connectTcp({ path: address.path }), 'connect', signal)
    case 'tcp':
      return connected(connectTcp({ host: address.host, port: address.port }), 'connect', signal)
    case 'tls': {
      const { host, port } = address
      const named = /^[\d.]+$|:/.test(host) ? {} : { servername: host }
      return connected(connectTls({ ...named, ...options.tls, host, port }), 'secureConnect', signal)
    }
    default:
      return whenOpen(
        new WebSocket(address.url, { ...options.tls, perMessageDeflate: false }) as unknown as WebSocketLike,
        address.url,
        signal
      )
  }
}

function connected(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal
): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.destroy()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', reject)
    socket.once(event, () => {
      socket.off('error', reject)
      signal.removeEventListener('abort', abort)
      resolve(new SocketTransport(socket))
    })
  })
}
