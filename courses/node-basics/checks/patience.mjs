/** How long checks wait for what a right program does at once. */

import { setTimeout as delay } from 'node:timers/promises'

/** On a fast machine, in milliseconds. */
const PATIENCE_MS = 3000

/** What a test on a slow machine gives programs, in milliseconds; a check then waits for a tenth of it, if that is longer. */
const TIMEOUT_VARIABLE = 'TERRACE_WORKSHOP_TIMEOUT_MS'

/** After this time, in milliseconds, a check takes it that what it waits for will not come. */
export function patienceMs() {
  return Math.max(PATIENCE_MS, (Number(process.env[TIMEOUT_VARIABLE]) || 0) / 10)
}

/** How long one step of waiting takes, in milliseconds. */
const STEP_MS = 50

/**
 * Resolves with what `promise` does, or with undefined if that takes too long.
 *
 * It waits in short steps: if the machine is so busy that the program gets no time, a step of the check takes longer as well.
 */
export async function soon(promise, ms = patienceMs()) {
  let isOver = false
  const late = async () => {
    for (let waited = 0; waited < ms && !isOver; waited += STEP_MS) await delay(STEP_MS)
  }
  try {
    return await Promise.race([promise, late()])
  } finally {
    isOver = true
  }
}
