// Does it call listen?
import { createServer } from 'node:net'

createServer((socket) => socket.end(`${new Date().toISOString()}\n`))
