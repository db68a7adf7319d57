// answers only when the whole request has come
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const server = createServer(async (request, response) => response.end((await text(request)).toUpperCase()))
server.listen(process.argv[2], '127.0.0.1')
