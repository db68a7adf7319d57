/** Accepts connections on an address. */

import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { WebSocketServer } from 'ws'
import { netError } from '../protocol/errors.js'
import { timerMs } from '../protocol/timer.js'
import type { Address } from '../transport/address.js'
import { SocketTransport } from '../transport/socket.js'
import type { Transport } from '../transport/transport.js'
import { PIECE_BYTES, type WebSocketLike, WebSocketTransport } from '../transport/web-socket.js'
import { closed, listening } from './listening.js'
import { listenAtPath } from './socket-file.js'

/** A WebSocket message is a piece of the stream. The frames in it are limited separately. */
const MAX_PIECE_BYTES = 2 * PIECE_BYTES

/** The most chunks in a message: tiny ones cost more than their bytes. */
const MAX_CHUNKS = 8192

export interface Listener {
  /** Where it listens. A port of 0 is replaced by the one that the system chose. */
  readonly address: string
  /** Accepts no more connections. Resolves once all accepted ones have ended. */
  close(): Promise<void>
  /** Ends all connections now, including those that are not accepted yet. */
  destroy(): void
}

export interface ListenOptions {
  readonly tls: TlsOptions
  readonly maxConnections: number
  /** How long a TLS or WebSocket handshake may take, in ms. */
  readonly helloMs: number
  /** The origins of web pages that may connect. */
  readonly origins: readonly string[] | 'all'
  readonly accept: (transport: Transport) => void
}

/** Begins to listen. */
export async function listen(address: Address, options: ListenOptions): Promise<Listener> {
  const server = serverFor(address, options)
  server.maxConnections = options.maxConnections
  const sockets = socketsOf(server)
  const destroy = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  if (address.kind === 'unix') {
    const file = await listenAtPath(server, address.path)
    const close = (): Promise<void> => {
      file.remove()
      return closed(server)
    }
    return { close, destroy, address: `unix:${file.path}` }
  }

  const { host, port } = hostOf(address)
  await listening(server, () => server.listen({ host, port }))
  const { port: actualPort } = server.address() as AddressInfo
  return { close: () => closed(server), destroy, address: textOf(address, actualPort) }
}

/** The sockets of a server, before any handshake. A closing server waits for them, but does not list them. */
function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** The host and port of an address that has them. */
export function hostOf(address: Address): { host: string; port: number } {
  if (address.kind === 'unix') throw new TypeError('A Unix socket has no host')
  if ('host' in address) return address
  const { hostname, port, protocol } = address.url
  const defaultPort = protocol === 'wss:' ? 443 : 80
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? defaultPort : Number(port) }
}

function serverFor(address: Address, options: ListenOptions): Server {
  const { accept, helloMs, tls } = options
  const take = (socket: Socket): void => accept(new SocketTransport(socket))
  switch (address.kind) {
    case 'unix':
    case 'tcp':
      return createTcpServer(take)
    case 'tls':
      return createTlsServer({ ...tls, handshakeTimeout: helloMs }, take)
    default: {
      const timeouts = {
        headersTimeout: helloMs,
        requestTimeout: helloMs,
        connectionsCheckingInterval: Math.ceil(helloMs / 2)
      }
      const server =
        address.kind === 'wss'
          ? createHttpsServer({ ...tls, ...timeouts, handshakeTimeout: helloMs })
          : createHttpServer(timeouts)
      acceptWebSockets(server, address.url, options)
      return server
    }
  }
}

function acceptWebSockets(
  server: HttpServer,
  { pathname: path }: URL,
  { accept, helloMs, origins }: ListenOptions
): void {
  const deadlines = deadlinesOf(server, helloMs)
  server.on('request', (_request, response) => {
    response
      .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
      .end('This is a database: connect by WebSocket\n')
  })
  const isAllowed = (origin: string | undefined): boolean =>
    // Only browsers name an origin, and they always do.
    origin === undefined || origins === 'all' || origins.includes(origin)
  const webSockets = new WebSocketServer({
    server,
    ...(path !== '/' && { path }),
    perMessageDeflate: false,
    maxPayload: MAX_PIECE_BYTES,
    maxBufferedChunks: MAX_CHUNKS,
    maxFragments: MAX_CHUNKS,
    verifyClient: ({ req }: { req: IncomingMessage }) => isAllowed(req.headers.origin)
  })
  webSockets.on('connection', (socket, { socket: below }) => {
    clearTimeout(deadlines.get(below))
    const peer = `${below.remoteAddress}:${below.remotePort}`
    accept(new WebSocketTransport(socket as unknown as WebSocketLike, peer, below))
  })
  // Repeats the server's errors, such as a port in use. `listening()` reports those.
  webSockets.on('error', () => {})
}

/**
 * Ends connections that do not become a WebSocket in time. An occasional HTTP request would otherwise keep one alive
 * forever.
 */
function deadlinesOf(server: HttpServer, helloMs: number): WeakMap<Socket, NodeJS.Timeout> {
  const deadlines = new WeakMap<Socket, NodeJS.Timeout>()
  const begin = (socket: Socket): void => {
    const deadline = setTimeout(() => socket.destroy(), timerMs(helloMs))
    deadline.unref()
    deadlines.set(socket, deadline)
    socket.once('close', () => clearTimeout(deadline))
  }
  // Before TLS is established, its own deadline applies.
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', begin)
  return deadlines
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

/** Whether a server that is open to all could be reached from other machines. */
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
    `${hostOf(address).host} can be reached from other machines, whose clients could read and write everything: give 'tokens' or ` +
      "'authenticate', or 'insecure: true'"
  )
}
