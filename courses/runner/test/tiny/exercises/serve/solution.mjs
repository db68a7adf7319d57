import { createServer } from 'node:http'

const server = createServer((request, response) => response.end(request.url.slice(1)))
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
