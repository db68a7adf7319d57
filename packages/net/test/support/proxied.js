// A served database behind a proxy that cuts connections.

import { once } from 'node:events'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { startProxy } from './proxy.js'
import { addresses } from './served.js'

const utf8 = { keyEncoding: 'utf8', valueEncoding: 'utf8' }

const buffers = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/** A served database, a proxy before it, and clients that go through the proxy. */
export async function proxied(t, { db = new MemoryLevel(buffers), ...options } = {}) {
  const servers = []
  const clients = []
  const serve = async (served = db) => {
    const server = createServer(served, options)
    servers.push(server)
    return server.listen(addresses.unix())
  }
  const proxy = await startProxy(await serve())
  t.after(async () => {
    proxy.isRefusing = true
    proxy.cut()
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(servers.map((server) => server.close()))
    await proxy.close()
    await db.close()
  })
  return {
    db,
    proxy,
    connect(clientOptions) {
      const client = new NetLevel(proxy.address, clientOptions)
      clients.push(client)
      return client
    },
    /** Puts another server in the place of the one that was there, which dies without a word. It may serve another database. */
    async restart(served) {
      proxy.isRefusing = true
      proxy.cut()
      await servers.at(-1).close()
      proxy.target = await serve(served)
      proxy.restore()
    }
  }
}

/** Fills a database, and returns its entries in order. */
export async function filled(db, count) {
  const entries = Array.from({ length: count }, (_, i) => [`k${String(i).padStart(6, '0')}`, `value ${i}`])
  await db.batch(
    entries.map(([key, value]) => ({ type: 'put', key, value })),
    utf8
  )
  return entries
}

/** Reads an iterator to its end, and adds what it gives. */
export async function readOn(iterator, found, size) {
  for (;;) {
    const part = await iterator.nextv(size())
    if (part.length === 0) return
    found.push(...part)
  }
}

/** Resolves once a client has a connection, or none. */
export const state = (client, isOnline) =>
  client.isOnline === isOnline ? undefined : once(client, 'connection').then(() => state(client, isOnline))
