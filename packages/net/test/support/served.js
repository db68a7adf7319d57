// A served database for tests: a server over an addressable transport, and clients of it.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'

/** Addresses to listen on, by the name of the transport. */
export const addresses = {
  unix: () => `unix:${join(mkdtempSync(join(tmpdir(), 'terrace-net-')), 'socket')}`,
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
  return {
    db,
    server,
    address,
    connect(options) {
      const client = new NetLevel(address, options)
      clients.push(client)
      return client
    },
    async stop() {
      await Promise.all(clients.map((client) => client.close()))
      await server.close()
      await db.close()
    }
  }
}
