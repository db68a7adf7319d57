// Was the file read as a text?
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const server = createServer(async (_, response) => response.end(await readFile(process.argv[3], 'utf8')))
server.listen(process.argv[2], '127.0.0.1')
