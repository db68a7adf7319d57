// A live page: a list of tasks that follows what Node writes, and what other pages write. Open it twice, side by side.
//
//   node examples/live-page/serve.mjs [PORT [DIRECTORY]]     by default 8080, and a directory that is removed afterwards
//
// Then open the address that it prints. Lines typed here become tasks as well. Stop the program with Ctrl-C and restart it on the
// same port: the page shows that it is reconnecting, then resumes.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createWebServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Level } from 'terrace'
import { createServer } from 'terrace-net/server'

const [port = '8080', given] = process.argv.slice(2)
const directory = given ?? mkdtempSync(join(tmpdir(), 'terrace-live-'))
const db = new Level(directory)
const tasks = db.sublevel('tasks', { valueEncoding: 'json' })

/** The page, and the client as one module, which needs no bundler. */
const files = {
  '/': ['text/html; charset=utf-8', new URL('page.html', import.meta.url)],
  '/terrace-net.js': ['text/javascript', new URL(import.meta.resolve('terrace-net/browser'))]
}

const web = createWebServer((request, response) => {
  const found = files[new URL(request.url, 'http://localhost').pathname]
  if (found === undefined) response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': found[0] }).end(readFileSync(found[1]))
})
web.listen(Number(port), '127.0.0.1')
await once(web, 'listening')
const { port: webPort } = web.address()

// Only pages of this site may connect. They can change the tasks, and nothing else.
const server = createServer(tasks, {
  origins: [`http://127.0.0.1:${webPort}`, `http://localhost:${webPort}`],
  limits: { sessionMs: 5000 }
})
const address = await server.listen(`ws://127.0.0.1:${webPort + 1}/`)
console.log(`open http://127.0.0.1:${webPort}/#${address}`)

const lines = createInterface({ input: process.stdin })
lines.on('line', async (text) => {
  const key = `${new Date().toISOString()} ${randomUUID()}`
  if (text.trim() !== '') await tasks.put(key, { text: text.trim(), isDone: false })
})

async function stop() {
  lines.close()
  web.closeAllConnections()
  web.close()
  await server.close()
  await db.close()
  if (given === undefined) rmSync(directory, { recursive: true })
}
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
