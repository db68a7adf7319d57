import { createServer } from 'node:net'

const server = createServer((socket) => {
  // A client that goes away too early must not end the server.
  socket.on('error', (error) => console.error(error.message))
  socket.end(`${new Date().toISOString()}\n`)
})

server.listen(Number(process.argv[2]), '127.0.0.1')
