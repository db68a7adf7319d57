// A letter was cut in two
import { createServer } from 'node:http'

const server = createServer(async (request, response) => {
  for await (const chunk of request) response.write(chunk.toString().toUpperCase())
  response.end()
})
server.listen(process.argv[2], '127.0.0.1')
