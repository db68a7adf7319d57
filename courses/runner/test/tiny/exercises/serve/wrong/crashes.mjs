// ended with exit code 7
import { createServer } from 'node:http'

const server = createServer(() => process.exit(7))
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
