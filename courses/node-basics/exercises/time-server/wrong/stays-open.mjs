// the connection stays open
import { createServer } from 'node:net'

createServer((socket) => socket.write(`${new Date().toISOString()}\n`)).listen(process.argv[2], '127.0.0.1')
