// Your server does not answer.
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'

createServer(() => createReadStream(process.argv[3])).listen(process.argv[2], '127.0.0.1')
