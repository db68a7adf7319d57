/** How long checks wait for what a right program does at once. */

/** On a fast machine, in milliseconds. */
const PATIENCE_MS = 3000

/** What a test on a slow machine gives programs, in milliseconds; a check then waits for a tenth of it, if that is longer. */
const TIMEOUT_VARIABLE = 'TERRACE_WORKSHOP_TIMEOUT_MS'

/** After this time, in milliseconds, a check takes it that what it waits for will not come. */
export function patienceMs() {
  return Math.max(PATIENCE_MS, (Number(process.env[TIMEOUT_VARIABLE]) || 0) / 10)
}

/** Resolves with what `promise` does, or with undefined if that takes too long. */
export async function soon(promise, ms = patienceMs()) {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
