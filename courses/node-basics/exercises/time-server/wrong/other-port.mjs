// No program listens on port
import { createServer } from 'node:net'

createServer((socket) => socket.end(`${new Date().toISOString()}\n`)).listen(0, '127.0.0.1')
