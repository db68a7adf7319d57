// Stands between pages and a server by TCP, and can let connections go dead: they stay open, and nothing passes.

import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Begins to pass connections on to a WebSocket's address. It ends with the test. */
export async function silentProxy(t, target) {
  const pairs = []
  const proxy = createServer((client) => {
    const server = connect(new URL(target).port, '127.0.0.1')
    pairs.push([client, server])
    for (const socket of [client, server]) socket.on('error', () => {})
    client.pipe(server)
    server.pipe(client)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    for (const socket of pairs.flat()) socket.destroy()
    proxy.close()
  })
  const url = new URL(target)
  url.port = proxy.address().port
  return {
    address: url.href,
    /** From now on nothing passes on the connections that there are. Later ones work. */
    silence() {
      for (const [client, server] of pairs) {
        client.unpipe()
        server.unpipe()
        client.resume()
        server.resume()
      }
    }
  }
}
