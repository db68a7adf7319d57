// Stands between clients and a server, at whatever address that listens, and cuts their connections.

import { connect, createServer } from 'node:net'
import { temporarySocket } from './temporary.js'

/**
 * Starts a relay for a server. Clients use its `address`.
 *
 * @param onSent - Called with what clients send.
 * @param onTold - Called with what the server sends.
 */
export async function relay(target, onSent = () => {}, onTold = () => {}) {
  const isUnix = target.startsWith('unix:')
  const url = isUnix ? undefined : new URL(target)
  const to = isUnix ? { path: target.slice('unix:'.length) } : { host: url.hostname, port: Number(url.port) }
  const pairs = new Set()
  const server = createServer((client) => {
    const pair = [client, connect(to)]
    pairs.add(pair)
    client.on('data', onSent)
    pair[1].on('data', onTold)
    for (const [from, other] of [pair, pair.toReversed()]) {
      from.on('error', () => {})
      from.on('close', () => {
        other.destroy()
        pairs.delete(pair)
      })
      from.pipe(other)
    }
  })
  const path = isUnix ? temporarySocket() : undefined
  await new Promise((resolve) => server.listen(path ?? { host: '127.0.0.1', port: 0 }, resolve))
  if (!isUnix) url.port = server.address().port
  const cut = () => {
    for (const pair of [...pairs]) for (const socket of pair) socket.destroy()
  }
  return {
    address: isUnix ? `unix:${path}` : url.href,
    /** Ends all connections. New ones may come. */
    cut,
    async stop() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
