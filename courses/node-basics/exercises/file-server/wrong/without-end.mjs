// The response does not end.
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'

const server = createServer(async (_, response) => {
  for await (const chunk of createReadStream(process.argv[3])) response.write(chunk)
})
server.listen(process.argv[2], '127.0.0.1')
