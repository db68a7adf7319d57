// The viewer, served to a page.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { buildViewer } from '../../../../viewer/build.mjs'

let html

/**
 * Serves the page, which is built once. Returns its origin, and the requests that the server has received. It ends with
 * the test.
 */
export async function serveViewer(t) {
  html ??= buildViewer()
  const built = await html
  const requests = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(200, { 'content-type': 'text/html' }).end(built)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${server.address().port}/`, requests }
}

/** Gives the page a folder. */
export const choose = (page, folder) => page.setInputFiles('#directory', folder)

/** Waits until the page says this of what it shows. */
export const status = (page, text) => page.locator('#status', { hasText: text }).waitFor()
