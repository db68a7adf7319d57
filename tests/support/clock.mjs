// A clock that a test holds: timers and `performance.now()` stand still until the test lets time pass.
//
// It is for code that runs in the process of the test. Node's own timers, such as those of its HTTP server, and those of
// `node:timers/promises` keep running.

import { turns, until } from './waiting.mjs'

/** How much of time passes between turns of the event loop, and how many turns there are: enough for bytes to arrive. */
const STEP_MS = 10
const STEP_TURNS = 20
/** What takes longer by this clock hangs. */
const HANG_MS = 3_600_000

/**
 * Takes the place of the clock until the test ends.
 *
 * @param {import('node:test').TestContext} t
 */
export function holdClock(t) {
  const clock = new HeldClock()
  const mocked = {
    setTimeout: (run, ms, ...args) => clock.add({ run, ms, args }),
    setInterval: (run, ms, ...args) => clock.add({ run, ms, args, isRepeated: true }),
    clearTimeout: (timer) => clock.clear(timer) || real.clearTimeout(timer),
    clearInterval: (timer) => clock.clear(timer) || real.clearInterval(timer)
  }
  const real = Object.fromEntries(Object.keys(mocked).map((name) => [name, globalThis[name]]))
  Object.assign(globalThis, mocked)
  // Not by the test's own mocks, which keep each call, and with its stack what called.
  const { now } = performance
  performance.now = () => clock.now
  // Timers that stand still do not keep the program alive.
  const keepAlive = real.setInterval(() => {}, 1000)
  clock.release = () => {
    Object.assign(globalThis, real)
    performance.now = now
    clearInterval(keepAlive)
  }
  t.after(clock.release)
  return clock
}

class HeldClock {
  /** In whole milliseconds: with fractions, a pause of 20 ms that begins 20 ms after another could end a rounding error later. */
  now = Math.ceil(performance.now())
  #timers = new Set()
  /** Gives the process its own clock back, before the test ends. Timers that wait never run. @type {() => void} */
  release

  /** How long the timers that wait were set for, in ms. */
  get waiting() {
    return [...this.#timers].map(({ ms }) => ms)
  }

  /** Lets time pass. What is due runs at its time, in order. */
  advance(ms) {
    const end = this.now + ms
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (due.length === 0) break
      const [timer] = due
      this.now = timer.at
      if (timer.isRepeated) timer.at += timer.ms
      else this.#timers.delete(timer)
      timer.run(...timer.args)
    }
    this.now = end
  }

  /** Lets time pass until a promise is settled, and returns what it resolves to. The event loop turns meanwhile. */
  async pass(promise) {
    const settled = watch(promise)
    for (let passed = 0; !settled.is; passed += STEP_MS) {
      if (passed > HANG_MS)
        throw new Error(`It hangs: ${HANG_MS / 1000} s have passed by the clock of the test`)
      this.advance(STEP_MS)
      await turns(STEP_TURNS)
    }
    return promise
  }

  /**
   * Waits until a promise is settled, and returns what it resolves to. Time passes only for timers that were set for at most so long:
   * what waits longer does so in vain, however slow a server is on which the others depend.
   */
  async passPauses(promise, mostMs) {
    const settled = watch(promise)
    await until(() => {
      const shortest = Math.min(...this.waiting)
      if (shortest <= mostMs) this.advance(shortest)
      return settled.is
    }, 'a promise to be settled')
    return promise
  }

  /** Lets time pass until a promise is settled, in small steps between which other processes have time to answer. */
  async passBesideOthers(promise) {
    const settled = watch(promise)
    await until(() => {
      this.advance(STEP_MS)
      return settled.is
    }, 'a promise that time settles')
    return promise
  }

  add({ run, ms = 1, args, isRepeated = false }) {
    const timer = { run, ms: Math.max(1, ms), args, isRepeated }
    // As Node's timers, which do not keep the program alive here.
    for (const method of ['ref', 'unref']) timer[method] = () => timer
    timer.at = this.now + timer.ms
    this.#timers.add(timer)
    return timer
  }

  clear(timer) {
    return this.#timers.delete(timer)
  }
}

function watch(promise) {
  const settled = { is: false }
  const settle = () => {
    settled.is = true
  }
  promise.then(settle, settle)
  return settled
}
