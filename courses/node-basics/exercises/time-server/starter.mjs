import { createServer } from 'node:net'

const server = createServer((socket) => {
  socket.end()
})

server.listen(Number(process.argv[2]), '127.0.0.1')
