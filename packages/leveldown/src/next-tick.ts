/** How callbacks are called: never before the call that they belong to has returned, and outside of any promise. */

type NextTick = (callback: (...args: never[]) => void, ...args: unknown[]) => void

/** `process.nextTick`, or what comes closest to it in a browser. */
export const nextTick: NextTick =
  typeof process === 'object' && typeof process.nextTick === 'function'
    ? (process.nextTick as NextTick)
    : (callback, ...args) => queueMicrotask(() => (callback as (...args: unknown[]) => void)(...args))

const inNextTurn: NextTick =
  typeof setImmediate === 'function'
    ? (setImmediate as unknown as NextTick)
    : (callback, ...args) => setTimeout(callback as (...args: unknown[]) => void, 0, ...args)

/** How many results in a row may be passed on without a turn of the event loop: as many as leveldown reads ahead. */
const MAX_ANSWERS = 1000

let answers = 0

/** Whether the next result must wait for a turn of the event loop. Counts it if not. */
export function isTurnDue(): boolean {
  if (answers + 1 >= MAX_ANSWERS) return true
  answers++
  return false
}

/** What calls back with a result that was available at once: `nextTick`, now and then a turn of the event loop. */
export function answering(): NextTick {
  if (!isTurnDue()) return nextTick
  answers = 0
  return inNextTurn
}

/** Calls `done` or `failed` once the promise has settled. What they throw is uncaught, as in other callbacks. */
export function settle<T>(
  promise: Promise<T>,
  done: (result: T) => void,
  failed: (error: unknown) => void
): void {
  promise.then(
    (result) => nextTick(done, result),
    (error: unknown) => nextTick(failed, error)
  )
}
