// A server in a separate process, which reports its memory. Its options, except methods, are its argument in JSON.
//
// Messages to it: `serve`, answered with the address of a new server and what the previous one held after it was closed; `memory`,
// answered with what is held after garbage collection; `{ put: BYTES }`, which writes a value of that size, answered with `done`.

import { MemoryLevel } from 'memory-level'
import { feed } from 'terrace-toolbox/feed'
import { createServer } from '../../dist/server/index.js'
import { collectGarbage } from './garbage.js'
import { addresses } from './served.js'

const { transport, values, ...options } = JSON.parse(process.argv[2])
const db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
await db.open()
const fed = db.sublevel('fed', { keyEncoding: 'buffer', valueEncoding: 'buffer' })
await fed.open()
const changes = feed(fed)
for (const [name, length] of Object.entries(values)) await db.put(Buffer.from(name), Buffer.alloc(length, 1))
const methods = { echo: (...given) => given, never: () => new Promise(() => {}) }
let server

/** Replaces the previous server. */
async function serve() {
  await server?.close()
  const leftBytes = server?.statistics().heldBytes ?? 0
  server = createServer(db, { ...options, feeds: { changes }, methods })
  return { address: await server.listen(addresses[transport]()), leftBytes }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function memory() {
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 20; j++) await turn()
    collectGarbage()
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  const { heldBytes, open } = server.statistics()
  return { bytes: arrayBuffers + heapUsed, heldBytes, open }
}

let puts = 0
process.on('message', async (message) => {
  if (message === 'serve') process.send(await serve())
  else if (message === 'memory') process.send(await memory())
  else {
    // Keys repeat, so that the database itself does not grow.
    await fed.put(Buffer.from(`k${puts++ % 4}`), Buffer.alloc(message.put, puts))
    process.send('done')
  }
})
process.on('disconnect', () => process.exit())
process.send('ready')
