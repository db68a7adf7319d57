// Servers on loopback, and a proxy that lets nothing past it.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

/**
 * @typedef {object} Answer
 * @property {number} [status] - 200 unless given.
 * @property {string | Buffer} [body]
 *
 * @typedef {object} Server
 * @property {string} url - Without a slash at its end.
 * @property {() => void} close
 */

/**
 * Starts a server on a free port.
 *
 * @param {(method: string, path: string, body: Buffer) => Answer | Promise<Answer>} answer - What it throws becomes a status of 500.
 * @returns {Promise<Server>}
 */
export async function serve(answer) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://loopback')
    try {
      const body = await buffer(request)
      const { status = 200, body: text } = await answer(request.method, decodeURIComponent(pathname), body)
      response.writeHead(status).end(text)
    } catch (error) {
      response.writeHead(500).end(error.message)
    }
  })
  return listen(server)
}

/**
 * Starts a proxy that refuses every request and notes where it was to go. Programs that run with its `environment` reach loopback only.
 *
 * @returns {Promise<Server & { refused: string[], environment: Record<string, string> }>}
 */
export async function refuseOtherHosts() {
  const refused = []
  const server = createServer((request, response) => {
    refused.push(request.url)
    response.writeHead(403).end('Only loopback can be reached here.')
  })
  server.on('connect', (request, socket) => {
    refused.push(request.url)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  const proxy = await listen(server)
  const environment = {}
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy']) {
    environment[name] = proxy.url
    environment[name.toUpperCase()] = proxy.url
  }
  const direct = '127.0.0.1,localhost'
  return { ...proxy, refused, environment: { ...environment, no_proxy: direct, NO_PROXY: direct } }
}

async function listen(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
