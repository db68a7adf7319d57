/** When a server of Node's begins to listen, and when it has ended. */

import type { Server } from 'node:net'

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

/** Accepts no more connections. Resolves once those that were accepted have ended. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
