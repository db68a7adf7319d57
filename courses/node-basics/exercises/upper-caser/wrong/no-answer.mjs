// does not answer a POST
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  if (request.method === 'GET') response.end()
})
server.listen(process.argv[2], '127.0.0.1')
