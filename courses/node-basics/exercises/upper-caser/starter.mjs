import { createServer } from 'node:http'
import { pipeline } from 'node:stream/promises'

const server = createServer(async (request, response) => {
  await pipeline(request, response)
})

server.listen(Number(process.argv[2]), '127.0.0.1')
