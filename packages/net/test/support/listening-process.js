// A server of a database in memory, in a separate process, thread or worker of node:cluster. It listens on request.
//
// Messages to it: `{ listen: PATH }`, `{ close: true }`. Answers: the `{ code }` of an error, if any, and `{ modes }`: those of the
// socket and of its directory, in octal, at the moment when the socket got its name.

import cluster from 'node:cluster'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { isMainThread, parentPort } from 'node:worker_threads'

const require = createRequire(import.meta.url)
const { MemoryLevel } = require('memory-level')
const { createServer } = require('../../dist/server/index.js')

// The modes of new files must not depend on the umask.
if (isMainThread) process.umask(0)

let server
let modes
const { renameSync } = fs
fs.renameSync = (from, to) => {
  const mode = (path) => (fs.lstatSync(path).mode & 0o777).toString(8)
  modes = [mode(from), mode(dirname(from))]
  renameSync(from, to)
}

async function answer({ listen }) {
  if (listen === undefined) {
    await server.close()
    return {}
  }
  server = createServer(new MemoryLevel())
  try {
    await server.listen(`unix:${listen}`)
    return { modes }
  } catch ({ code, message }) {
    return { code, message }
  }
}

const port = isMainThread ? process : parentPort
const send = (message) => (isMainThread ? process.send(message) : parentPort.postMessage(message))
port.on('message', async (message) => send(await answer(message)))
if (isMainThread && !cluster.isWorker) process.on('disconnect', () => process.exit())
send({ isReady: true })
