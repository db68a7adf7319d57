// make one for each request
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'

const stream = createReadStream(process.argv[3])
createServer((_, response) => stream.pipe(response)).listen(process.argv[2], '127.0.0.1')
