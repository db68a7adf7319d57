/** The platform in a page or a worker of one: see `platform.ts`. */

import { codedError } from './errors.js'

/** Browsers cannot tell which function an asynchronous call came from. */
export class AsyncLocalStorage<T> {
  run<R>(_store: T, body: (...args: never[]) => R, ...args: never[]): R {
    return body(...args)
  }

  getStore(): T | undefined {
    return undefined
  }
}

/** Resolves after other tasks have had their turn. Messages are not held back as timers are. */
export function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  return new Promise((resolve) => {
    const onMessage = () => {
      port1.close()
      resolve()
    }
    // The types are those of Node's ports.
    Object.assign(port1, { onmessage: onMessage })
    port2.postMessage(null)
  })
}

/** The remainders of all bytes, for CRC-32 as zlib, PNG and Ethernet have it. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0)
  return remainder
})

/** As `crc32` of `node:zlib`. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  let remainder = ~previous
  for (const byte of bytes) remainder = (remainder >>> 8) ^ (REMAINDERS[(remainder ^ byte) & 0xff] as number)
  return ~remainder >>> 0
}

/** There are no streams of Node. */
export async function pipeToNode(): Promise<void> {
  throw codedError(
    'DUMP_INVALID_DESTINATION',
    'In a browser, the destination of a dump must be a WritableStream'
  )
}

/** A page ends when it is closed, whatever its timers. */
export function unref<T>(timer: T): T {
  return timer
}

/** Reports an error of work in the background that no call waits for. */
export function warn(error: Error): void {
  console.warn(error)
}
