// A proxy on 127.0.0.1 before a server, which can cut connections around COMMIT, and hold back what a client has sent.

import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export class CuttingProxy {
  #server
  #upstreamPort
  #sockets = new Set()
  /** What happens to the next packet with a COMMIT: 'before' cuts before it reaches the server, 'after' once the server has answered. */
  next
  /** Packets that were held back, as functions that deliver them. Their promises resolve once the server has answered. */
  held = []
  cuts = 0

  static async before(t, server) {
    const proxy = new CuttingProxy()
    proxy.#upstreamPort = server.port
    proxy.#server = createServer((client) => proxy.#serve(client))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    t.after(() => proxy.close())
    const { user, password } = server.accounts.user
    proxy.url = `mysql://${user}:${password}@127.0.0.1:${proxy.#server.address().port}/terrace`
    return proxy
  }

  #serve(client) {
    const upstream = connect(this.#upstreamPort, '127.0.0.1')
    let isCut = false
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    }
    client.on('data', (data) => {
      const fate =
        data.includes('START TRANSACTION;INSERT') || data.includes(';COMMIT') ? this.next : undefined
      if (fate === undefined) return void upstream.write(data)
      this.next = undefined
      this.cuts++
      if (fate === 'before') return client.destroy()
      isCut = true
      // The server keeps its connection, as if it hung with the packet in its hands.
      if (fate === 'held') {
        this.held.push(() => {
          const answered = new Promise((resolve) => upstream.once('data', resolve).once('close', resolve))
          upstream.write(data)
          return answered
        })
        return client.destroy()
      }
      upstream.once('data', () => client.destroy())
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (!isCut) client.write(data)
    })
    client.on('close', () => isCut || upstream.destroy())
    upstream.on('close', () => client.destroy())
  }

  close() {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
