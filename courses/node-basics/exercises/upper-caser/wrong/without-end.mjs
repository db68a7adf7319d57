// The response does not end
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.setEncoding('utf8')
  request.on('data', (text) => response.write(text.toUpperCase()))
})
server.listen(process.argv[2], '127.0.0.1')
