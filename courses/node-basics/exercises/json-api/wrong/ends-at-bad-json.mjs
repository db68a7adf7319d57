// Your server ended when it got a body that is not JSON.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { Level } from 'terrace'

const [port, directory] = process.argv.slice(2)
const birds = new Level(directory, { valueEncoding: 'json' })

const server = createServer(async (request, response) => {
  const name = request.url.split('/')[2]
  const bird = await birds.get(name)
  if (request.method === 'PUT') {
    await birds.put(name, await json(request))
    response.writeHead(bird === undefined ? 201 : 204).end()
  } else if (bird === undefined) {
    response.writeHead(404).end()
  } else {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(bird))
  }
})

server.listen(Number(port), '127.0.0.1')
