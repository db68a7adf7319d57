/** Local HTTP servers, which learners' programs ask. */

import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Runs a server on a free port of this machine while `action` runs, and resolves with what that returns.
 *
 * @param handler - As that of `createServer`; it may be asynchronous. If it fails, the connection is cut.
 * @param action - Gets the URL of the server, without a slash at its end.
 */
export async function withServer(handler, action) {
  const server = await listening(handler)
  try {
    return await action(urlOf(server))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Starts a server for an example. It does not keep the process alive. Resolves with its URL. */
export async function exampleServer(handler) {
  const server = await listening(handler)
  server.unref()
  return urlOf(server)
}

async function listening(handler) {
  const server = createServer((request, response) => {
    // The check ends a program and its connections while a handler still waits.
    Promise.resolve(handler(request, response)).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function urlOf(server) {
  return `http://127.0.0.1:${server.address().port}`
}

/** For `failures` of `outputs`: nobody answered at the URL that the program asked. */
export const WRONG_URL = [
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|Invalid URL/,
  {
    en: 'Your program asks a different address. The URL is the first argument, process.argv[2].',
    de: 'Dein Programm fragt eine andere Adresse ab. Die URL ist das erste Argument, process.argv[2].'
  }
]
