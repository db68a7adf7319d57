import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import { pipeline } from 'node:stream/promises'

const [port, file] = process.argv.slice(2)

const server = createServer(async (_, response) => {
  try {
    await pipeline(createReadStream(file), response)
  } catch (error) {
    // The client has gone, or the file has. Others may still come.
    console.error(error.message)
  }
})

server.listen(Number(port), '127.0.0.1')
