import { once } from 'node:events'
import { Level } from 'terrace'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'

const address = process.argv[2]
if (address === undefined) await serve()
else await show(address)

async function serve() {
  const db = new Level('birds')
  const server = createServer(db)
  console.log(await server.listen('tcp://127.0.0.1:0'))

  process.stdin.resume()
  await once(process.stdin, 'end')
  await server.close()
  await db.close()
}

async function show(address) {
  const db = new NetLevel(address)
  for await (const [bird, place] of db.iterator()) console.log(bird, place)
  await db.close()
}
