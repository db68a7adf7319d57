// This is not the current time.
import { createServer } from 'node:net'

let time = 0
const server = createServer((socket) => {
  time += 1000
  socket.end(`${new Date(time).toISOString()}\n`)
})
server.listen(process.argv[2], '127.0.0.1')
