// The time does not have the form
import { createServer } from 'node:net'

createServer((socket) => socket.end(`${new Date()}\n`)).listen(process.argv[2], '127.0.0.1')
