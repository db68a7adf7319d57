// Unused ports on 127.0.0.1.

import { once } from 'node:events'
import { createServer } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/** Below the ports that Linux assigns to outgoing connections: a restarted server must find its port free. */
const FIRST = 20_000
const COUNT = 12_000

/** Ports that this process was given before, so that no two of its servers share one. */
const given = new Set()

/**
 * Finds the first of `count` successive free ports.
 *
 * @throws Error if a hundred attempts find none.
 */
export async function freePorts(count) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = FIRST + Math.floor(Math.random() * (COUNT - count))
    const ports = Array.from({ length: count }, (_, i) => first + i)
    if (ports.some((port) => given.has(port))) continue
    if (!(await allFree(ports))) continue
    for (const port of ports) given.add(port)
    return first
  }
  throw new Error('no free ports were found')
}

async function allFree(ports) {
  for (const port of ports) if (!(await isFree(port))) return false
  return true
}

async function isFree(port) {
  const server = createServer()
  const outcome = Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false)
  ]).catch(() => false)
  server.listen(port, LOOPBACK)
  if (!(await outcome)) return false
  server.close()
  await once(server, 'close')
  return true
}
