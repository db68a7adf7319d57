import { createServer } from 'node:http'

const [port, file] = process.argv.slice(2)

const server = createServer((_, response) => {
  response.end(`The content of ${file} should be here.`)
})

server.listen(Number(port), '127.0.0.1')
