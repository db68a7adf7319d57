import { createServer } from 'node:net'

/** Finds a port of loopback that is free, for a server that cannot choose one itself. */
export async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
