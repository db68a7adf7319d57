// A proxy between clients and a server that can cut their connections.

import { connect, createServer } from 'node:net'
import { finished } from 'node:stream/promises'
import { temporarySocket } from './temporary.js'

/** A proxy before a server on a Unix socket. Clients connect to its `address`. */
export async function cuttingProxy(target) {
  const path = temporarySocket()
  const pairs = new Set()
  let isOpen = true
  let isSilent = false
  /** How many more pieces from the server may pass. */
  let pieces = Number.POSITIVE_INFINITY

  const proxy = createServer((client) => {
    if (!isOpen) {
      client.destroy()
      return
    }
    const server = connect({ path: target.slice('unix:'.length) })
    const pair = [client, server]
    pairs.add(pair)
    for (const [from, to] of [
      [client, server],
      [server, client]
    ]) {
      from.on('error', () => {})
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
    client.on('data', (bytes) => server.write(bytes))
    server.on('data', (bytes) => {
      if (pieces-- > 0) client.write(bytes)
      else close()
    })
    if (isSilent) server.pause()
  })

  /** Destroys all connections. Resolves once both sides have noticed. */
  async function cut() {
    const sockets = [...pairs].flat()
    for (const socket of sockets) socket.destroy()
    await Promise.allSettled(sockets.map((socket) => finished(socket)))
  }

  async function close() {
    isOpen = false
    await cut()
  }

  await new Promise((resolve) => proxy.listen(path, resolve))

  return {
    address: `unix:${path}`,
    /** Holds back the server's data. */
    silence() {
      isSilent = true
      for (const [, server] of pairs) server.pause()
    },
    /** Ends all connections and drops what is held back. Resolves once both sides have noticed. */
    cut,
    /** Cuts all connections, and refuses new ones. */
    close,
    /** Accepts clients and forwards the server's data again; closes again after this many pieces. */
    restore(count = Number.POSITIVE_INFINITY) {
      isOpen = true
      isSilent = false
      pieces = count
      for (const [, server] of pairs) server.resume()
    },
    async stop() {
      await close()
      await new Promise((resolve) => proxy.close(resolve))
    }
  }
}
