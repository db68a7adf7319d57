// A clock that stands still until a test moves it.

import { until } from '../../../../tests/support/waiting.mjs'

const STEP_MS = 10

/** Holds the timers and the clock of this process until the test ends, or releases them. */
export function holdClock(t) {
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })

  return {
    /** Lets time pass, step by step, until a promise is settled. */
    async passUntilSettled(promise) {
      let isSettled = false
      const settled = () => {
        isSettled = true
      }
      promise.then(settled, settled)
      await until(() => {
        nowMs += STEP_MS
        t.mock.timers.tick(STEP_MS)
        return isSettled
      }, 'a promise that time settles')
      return promise
    },

    release: () => t.mock.reset()
  }
}
