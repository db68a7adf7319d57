// Two connections got the same time
import { createServer } from 'node:net'

const time = new Date().toISOString()
createServer((socket) => socket.end(`${time}\n`)).listen(process.argv[2], '127.0.0.1')
