// A served database for tests: a server over an addressable transport, and clients of it.

import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { greetedClient } from './raw-client.js'
import { temporarySocket } from './temporary.js'

/** Addresses to listen on, by the name of the transport. */
export const addresses = {
  unix: () => `unix:${temporarySocket()}`,
  tcp: () => 'tcp://127.0.0.1:0',
  ws: () => 'ws://127.0.0.1:0/db'
}

/** Serves a new database in memory, or `db`. Call `stop()` at the end. */
export async function serve({
  transport = 'unix',
  db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' }),
  ...options
} = {}) {
  const server = createServer(db, options)
  const address = await server.listen(addresses[transport]())
  const clients = []
  const connectTo = (to, clientOptions) => {
    const client = new NetLevel(to, clientOptions)
    clients.push(client)
    return client
  }
  const greet = async (greeting) => {
    const client = await greetedClient(address, greeting)
    clients.push(client)
    return client
  }
  return {
    db,
    server,
    address,
    connect: (clientOptions) => connectTo(address, clientOptions),
    /** Connects by another address that leads to the server, such as that of a proxy. */
    connectTo,
    /** Connects a client that speaks the protocol by hand. */
    greet,
    async stop() {
      await Promise.all(clients.map((client) => client.close()))
      await server.close()
      await db.close()
    }
  }
}
