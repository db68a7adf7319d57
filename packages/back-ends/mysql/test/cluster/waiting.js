// Waiting with an end.

import { setTimeout as pause } from 'node:timers/promises'

export { pause }

/**
 * Calls `attempt` until it returns something other than undefined, and returns that.
 *
 * @param what - What is waited for, in the words of the error.
 * @throws Error if `limitMs` milliseconds have passed, with what `attempt` threw last as its cause.
 */
export async function until(what, limitMs, attempt, intervalMs = 100) {
  const end = performance.now() + limitMs
  let cause
  for (;;) {
    try {
      const result = await attempt()
      if (result !== undefined) return result
    } catch (error) {
      if (error.isFinal) throw error
      cause = error
    }
    if (performance.now() >= end) throw new Error(`${what}: not within ${limitMs} ms`, { cause })
    await pause(intervalMs)
  }
}
