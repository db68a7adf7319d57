// Only the first
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'

const server = createServer((_, response) => {
  createReadStream(process.argv[3]).once('data', (chunk) => response.end(chunk))
})
server.listen(process.argv[2], '127.0.0.1')
