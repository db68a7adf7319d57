// What memory is left once nothing more is given back.

import { turns } from './waiting.mjs'

/** How many looks find nothing less before it is over. */
const LOOKS = 5
const TURNS = 20

/**
 * Collects garbage until memory use stops falling, and measures the remaining use. One collection is not enough: finalizers run in later
 * turns of the event loop, and other threads sweep. The process needs `--expose-gc`.
 *
 * @returns {Promise<{ heapUsed: number, external: number, arrayBuffers: number, rss: number }>} The least of each, in bytes.
 */
export async function memoryLeft() {
  const left = { heapUsed: Infinity, external: Infinity, arrayBuffers: Infinity, rss: Infinity }
  for (let looks = 0; looks < LOOKS; looks++) {
    globalThis.gc()
    await turns(TURNS)
    const now = process.memoryUsage()
    for (const kind of Object.keys(left)) {
      if (now[kind] < left[kind]) looks = 0
      left[kind] = Math.min(left[kind], now[kind])
    }
  }
  return left
}
