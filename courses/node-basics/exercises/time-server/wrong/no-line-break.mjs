// no line break at its end
import { createServer } from 'node:net'

createServer((socket) => socket.end(new Date().toISOString())).listen(process.argv[2], '127.0.0.1')
