// There is nothing here, so the status is 404.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { Level } from 'terrace'

const [port, directory] = process.argv.slice(2)
const birds = new Level(directory, { valueEncoding: 'json' })

/** Sends a status, and a value as JSON if there is one. */
function send(response, status, value) {
  if (value === undefined) response.writeHead(status).end()
  else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function getBird(name, response) {
  const bird = await birds.get(name)
  send(response, 200, bird ?? null)
}

async function putBird(name, request, response) {
  let bird
  try {
    bird = await json(request)
  } catch {
    return send(response, 400)
  }
  const isNew = (await birds.get(name)) === undefined
  await birds.put(name, bird)
  send(response, isNew ? 201 : 204)
}

const server = createServer(async (request, response) => {
  try {
    const [, name] = /^\/birds\/(\w+)$/.exec(request.url) ?? []
    if (name === undefined) send(response, 404)
    else if (request.method === 'GET') await getBird(name, response)
    else if (request.method === 'PUT') await putBird(name, request, response)
    else response.writeHead(405, { allow: 'GET, PUT' }).end()
  } catch (error) {
    console.error(error)
    send(response, 500)
  }
})

server.listen(Number(port), '127.0.0.1')
