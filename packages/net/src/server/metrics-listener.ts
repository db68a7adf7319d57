/** Serves statistics over HTTP: `/metrics` for Prometheus, `/metrics.json` for other programs. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { netError } from '../protocol/errors.js'
import { isLoopback } from '../transport/address.js'
import type { Listener } from './listener.js'
import { listening } from './listening.js'
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from './prometheus.js'
import type { ServerStatistics } from './statistics.js'

/** Only a few programs monitor a server. */
const MAX_CONNECTIONS = 32

/**
 * Begins to serve statistics at `HOST:PORT`. A port of 0 lets the system choose.
 *
 * @param isInsecure - Whether other machines may read the statistics. There is no authentication.
 * @throws NET_INVALID if it is not an address, or if other machines could reach it and `isInsecure` is false.
 */
export async function listenForMetrics(
  address: string,
  isInsecure: boolean,
  statistics: () => ServerStatistics
): Promise<Listener> {
  const { host, port } = parsed(address)
  if (!isInsecure && !isLoopback(host)) {
    throw netError(
      'NET_INVALID',
      `${host} can be reached from other machines, whose users could read the statistics: use 127.0.0.1, or 'insecure: true'`
    )
  }

  const server = createServer((request, response) => {
    if (isInsecure || isForLoopback(request.headers.host)) answer(request, response, statistics)
    else response.writeHead(403, { 'content-type': 'text/plain' }).end('Ask for 127.0.0.1 or localhost\n')
  })
  server.maxConnections = MAX_CONNECTIONS
  await listening(server, () => server.listen({ host, port }))
  const { port: actualPort } = server.address() as AddressInfo
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    destroy: () => server.closeAllConnections()
  }
}

function parsed(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address)
  const port = Number(match?.[3])
  if (match !== null && port <= 65_535) return { host: (match[1] ?? match[2]) as string, port }
  throw netError('NET_INVALID', `'${address}' is no address for statistics, such as '127.0.0.1:9100'`)
}

/**
 * Whether the header `host` names this machine. A page can point a name of its site to 127.0.0.1, and its browser then lets it
 * read the responses. The header, however, contains that name.
 */
function isForLoopback(header = ''): boolean {
  const [, host = ''] = /^\[?(.*?)\]?(?::\d+)?$/.exec(header) ?? []
  return isLoopback(host)
}

function answer(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  statistics: () => ServerStatistics
): void {
  const [path] = url.split('?')
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
  } else if (path === '/metrics') {
    response.writeHead(200, { 'content-type': PROMETHEUS_CONTENT_TYPE }).end(prometheusText(statistics()))
  } else if (path === '/metrics.json') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(statistics()))
  } else {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('See /metrics or /metrics.json\n')
  }
}
