// Only the first connection was answered.
import { createServer } from 'node:net'

const server = createServer((socket) => {
  socket.end(`${new Date().toISOString()}\n`)
  server.close()
})
server.listen(process.argv[2], '127.0.0.1')
