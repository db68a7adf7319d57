/** Accepts connections on an address. */

import { chmodSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket
} from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { WebSocketServer } from 'ws'
import { netError } from '../protocol/errors.js'
import type { Address } from '../transport/address.js'
import { SocketTransport } from '../transport/socket.js'
import type { Transport } from '../transport/transport.js'
import { type WebSocketLike, WebSocketTransport } from '../transport/web-socket.js'

/** Only its user may connect to a socket. */
const SOCKET_MODE = 0o600

export type Accept = (transport: Transport) => void

export interface Listener {
  /** Where it listens, with the port that the system has chosen if the port was 0. */
  readonly address: string
  /** Accepts no more connections. */
  close(): Promise<void>
}

/** Begins to listen. `maxMessageBytes` bounds what a WebSocket takes in one piece. */
export async function listen(
  address: Address,
  tls: TlsOptions,
  maxMessageBytes: number,
  accept: Accept
): Promise<Listener> {
  const server = serverFor(address, tls, maxMessageBytes, accept)
  if (address.kind === 'unix') return listenAt(server, address.path)

  const { host, port } = hostOf(address)
  await listening(server, () => server.listen({ host, port }))
  const { port: actualPort } = server.address() as AddressInfo
  return { address: textOf(address, actualPort), close: () => closed(server) }
}

/** The host and port of an address, if it has them. */
export function hostOf(address: Address): { host: string; port: number } {
  if (address.kind === 'unix') throw new TypeError('A Unix socket has no host')
  if ('host' in address) return address
  const { hostname, port, protocol } = address.url
  const defaultPort = protocol === 'wss:' ? 443 : 80
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? defaultPort : Number(port) }
}

function serverFor(address: Address, tls: TlsOptions, maxMessageBytes: number, accept: Accept): Server {
  const take = (socket: Socket): void => accept(new SocketTransport(socket))
  switch (address.kind) {
    case 'unix':
    case 'tcp':
      return createTcpServer(take)
    case 'tls':
      return createTlsServer(tls, take)
    default: {
      const server = address.kind === 'wss' ? createHttpsServer(tls) : createHttpServer()
      server.on('request', (_request, response) => {
        response
          .writeHead(426, { 'content-type': 'text/plain' })
          .end('This is a database: connect by WebSocket\n')
      })
      const { pathname: path } = address.url
      const webSockets = new WebSocketServer({
        server,
        ...(path !== '/' && { path }),
        perMessageDeflate: false,
        maxPayload: maxMessageBytes
      })
      webSockets.on('connection', (socket, { socket: { remoteAddress, remotePort } }) => {
        const peer = `${remoteAddress}:${remotePort}`
        accept(new WebSocketTransport(socket as unknown as WebSocketLike, peer))
      })
      return server
    }
  }
}

/** Listens at a path, in the place of a server that has died. */
async function listenAt(server: Server, path: string): Promise<Listener> {
  const start = (): Promise<void> => listening(server, () => server.listen(path))
  try {
    await start()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || (await isAnswered(path))) throw error
    rmSync(path, { force: true })
    await start()
  }
  if (process.platform !== 'win32') chmodSync(path, SOCKET_MODE)
  return { address: `unix:${path}`, close: () => closed(server) }
}

/** Whether somebody accepts connections at a path. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Starts a server. Resolves once it listens; later errors of the server itself concern no connection. */
export function listening(server: Server, start: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve()
    })
    start()
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}

function textOf(address: Exclude<Address, { kind: 'unix' }>, port: number): string {
  if ('host' in address) {
    const host = address.host.includes(':') ? `[${address.host}]` : address.host
    return `${address.kind}://${host}:${port}`
  }
  const url = new URL(address.url)
  url.port = String(port)
  return url.href
}

/** Whether a server that lets everybody in could be reached from other machines. */
export function isExposed(
  address: Address,
  isOpenToAll: boolean,
  isLoopbackHost: (host: string) => boolean
): boolean {
  return isOpenToAll && address.kind !== 'unix' && !isLoopbackHost(hostOf(address).host)
}

export function checkExposed(
  address: Address,
  isOpenToAll: boolean,
  isLoopbackHost: (host: string) => boolean
): void {
  if (!isExposed(address, isOpenToAll, isLoopbackHost)) return
  throw netError(
    'NET_INVALID',
    `${hostOf(address).host} can be reached from other machines, and anybody could do everything: give 'tokens' or ` +
      "'authenticate', or say 'insecure: true'"
  )
}
