// Serves a database of the class that a module exports: `server.js MODULE DIRECTORY`. Tells its parent the address.

import { join } from 'node:path'
import { createServer } from 'terrace-net/server'

const [module, directory] = process.argv.slice(2)
const { Database } = await import(module)
const db = new Database(join(directory, 'db'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
await db.open()
const server = createServer(db)

process.once('message', async () => {
  await server.close()
  await db.close()
  process.exit()
})
process.once('disconnect', () => process.exit(1))
process.send({ address: await server.listen(`unix:${join(directory, 'socket')}`) })
