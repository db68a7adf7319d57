// socket.finish is not a function
import { createServer } from 'node:net'

const server = createServer((socket) => socket.finish(`${new Date().toISOString()}\n`))
server.listen(process.argv[2], '127.0.0.1')
