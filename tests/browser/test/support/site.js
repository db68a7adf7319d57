// A web site on loopback, whose pages may run its own scripts and connect by WebSocket, but nothing else.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

/** The client in one module, as the package brings it. */
const client = fileURLToPath(import.meta.resolve('terrace-net/browser'))

const POLICY = "default-src 'self'; img-src data:; connect-src ws://127.0.0.1:*"

/** What a page needs that runs the engine: WebAssembly, and its file from the site. */
export const ENGINE_POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:"

/** What isolates a page from other origins, so that it may share memory with its workers. */
export const ISOLATION = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp'
}

/** The kinds of page, with the headers that make them. */
export const PAGES = { 'a page': {}, 'an isolated page': ISOLATION }

/**
 * Serves an empty page at `/`, the client at `/terrace-net.js`, and these files: their contents by their paths. All of them have these
 * headers, and those of `own` besides, by their paths. Returns the origin. It ends with the test.
 */
export async function serveSite(t, files = {}, policy = POLICY, headers = {}, own = {}) {
  const file = (path) => (path === '/terrace-net.js' ? readFileSync(client) : files[path])
  const server = createServer(({ url }, response) => {
    if (url === '/' || url === '/?') {
      response
        .writeHead(200, { ...headers, 'content-type': 'text/html', 'content-security-policy': policy })
        .end('<!doctype html><html lang="en"><title>Test</title><link rel="icon" href="data:,"></html>')
    } else if (file(url) === undefined) response.writeHead(404).end()
    else {
      const type = url.endsWith('.wasm') ? 'application/wasm' : 'text/javascript'
      const all = { ...headers, ...own[url], 'content-type': type, 'content-security-policy': policy }
      response.writeHead(200, all).end(file(url))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}`
}
