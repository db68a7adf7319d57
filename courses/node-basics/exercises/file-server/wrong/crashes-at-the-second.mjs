// the second broke the connection. Your program ended with exit code 1.
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import { pipeline } from 'node:stream/promises'

const handle = await open(process.argv[3])
const server = createServer((_, response) => pipeline(handle.createReadStream(), response))
server.listen(process.argv[2], '127.0.0.1')
