import { abortError, throwIfAborted } from './errors.js'

/** Waits double with each attempt, from 1 ms to this. */
const MAX_BACKOFF_MS = 64

/** What ends a pause early: it is given a function to call, and returns one that takes it back. */
export type Wakeup = (wake: () => void) => () => void

/** How long to wait after so many attempts: a random time, not at all after the first. */
export function backoffMs(attempts: number): number {
  if (attempts < 2) return 0
  return Math.min(2 ** (attempts - 2), MAX_BACKOFF_MS) * (0.5 + Math.random() / 2)
}

/**
 * Waits for so long, or until it is woken.
 *
 * @throws LEVEL_ABORTED
 */
export function pause(milliseconds: number, signal: AbortSignal | undefined, wakeup?: Wakeup): Promise<void> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal)

    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      forget?.()
      settle()
    }
    const abort = (): void => end(() => reject(abortError(signal as AbortSignal)))
    const timer = setTimeout(() => end(resolve), milliseconds)
    const forget = wakeup?.(() => end(resolve))
    signal?.addEventListener('abort', abort)
  })
}
