import { createServer } from 'node:http'
import { pipeline } from 'node:stream/promises'

async function* upperCased(texts) {
  for await (const text of texts) yield text.toUpperCase()
}

const server = createServer(async (request, response) => {
  request.setEncoding('utf8')
  try {
    await pipeline(request, upperCased, response)
  } catch (error) {
    // The client has gone. Others may still come.
    console.error(error.message)
  }
})

server.listen(Number(process.argv[2]), '127.0.0.1')
