// Waiting in tests: for a condition, never for a time.

// Kept here, so that a test whose clock stands still can wait as well.
const { setTimeout, setImmediate } = globalThis
const now = performance.now.bind(performance)

/** How long anything may take in a test. What takes longer hangs: no machine is so slow. */
export const HANG_MS = 300_000

/** How often a condition is checked. */
const INTERVAL_MS = 2

/**
 * Waits until a condition is true.
 *
 * @param {() => unknown} isSo - May return a promise.
 * @param {string} what - What is waited for, if it never comes.
 */
export async function until(isSo, what = String(isSo)) {
  const end = now() + HANG_MS
  while (!(await isSo())) {
    if (now() > end) throw new Error(`It hangs: waited ${HANG_MS / 1000} s for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
  }
}

/** Lets the event loop turn so many times. What is due has its turn in each. */
export async function turns(count = 1) {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Counts the turns of the event loop until the test ends. */
export function countTurns(t) {
  const counter = { turns: 0 }
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const count = () => {
    counter.turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  return counter
}
