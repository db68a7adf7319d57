// The response ended before the request did
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.setEncoding('utf8')
  request.once('data', (text) => response.end(text.toUpperCase()))
})
server.listen(process.argv[2], '127.0.0.1')
