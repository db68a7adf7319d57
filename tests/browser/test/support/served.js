// A served database for pages.

import { MemoryLevel } from 'memory-level'
import { createServer } from 'terrace-net/server'

/** Serves a database in memory by WebSocket. It ends with the test. */
export async function serve(t, options) {
  const db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
  const server = createServer(db, options)
  const address = await server.listen('ws://127.0.0.1:0/db')
  t.after(async () => {
    await server.close()
    await db.close()
  })
  return { db, server, address }
}
