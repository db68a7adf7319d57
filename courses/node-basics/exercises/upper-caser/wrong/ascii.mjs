// Letters such as ö have capital forms
import { createServer } from 'node:http'

const server = createServer(async (request, response) => {
  request.setEncoding('utf8')
  for await (const text of request) response.write(text.replace(/[a-z]/g, (letter) => letter.toUpperCase()))
  response.end()
})
server.listen(process.argv[2], '127.0.0.1')
