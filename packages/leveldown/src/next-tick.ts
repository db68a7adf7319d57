/** How callbacks are called: never before the call that they belong to has returned, and outside of any promise. */

type NextTick = (callback: (...args: never[]) => void, ...args: unknown[]) => void

/** `process.nextTick`, or what comes closest to it in a browser. */
export const nextTick: NextTick =
  typeof process === 'object' && typeof process.nextTick === 'function'
    ? (process.nextTick as NextTick)
    : (callback, ...args) => queueMicrotask(() => (callback as (...args: unknown[]) => void)(...args))

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
