import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

const [port] = process.argv.slice(2)
const birds = new Map()

const server = createServer(async (request, response) => {
  if (request.method === 'PUT') {
    birds.set(request.url, await json(request))
    response.writeHead(201).end()
  } else {
    response.end(JSON.stringify(birds.get(request.url)))
  }
})

server.listen(Number(port), '127.0.0.1')
