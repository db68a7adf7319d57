/** What the platform has and JavaScript has not: here Node's. Pages get `platform-browser.ts` in its place, by package.json. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export { AsyncLocalStorage } from 'node:async_hooks'
export { setImmediate as nextTurn } from 'node:timers/promises'
export { crc32 } from 'node:zlib'

/** Writes pieces to a stream of Node, and ends it. */
export function pipeToNode(
  pieces: AsyncIterable<Uint8Array>,
  destination: NodeJS.WritableStream,
  signal: AbortSignal | undefined
): Promise<void> {
  return pipeline(Readable.from(pieces, { objectMode: false }), destination, {
    signal: signal as AbortSignal
  })
}

/** Lets the process end although the timer has not fired. */
export function unref(timer: NodeJS.Timeout): NodeJS.Timeout {
  return timer.unref()
}

/** Reports an error of work in the background that no call waits for. */
export function warn(error: Error): void {
  process.emitWarning(error)
}
