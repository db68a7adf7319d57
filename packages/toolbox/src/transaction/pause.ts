import { abortError, throwIfAborted } from './errors.js'

/** The pause doubles with each attempt, from 1 ms to this. */
const MAX_BACKOFF_MS = 64

/** How long to pause after this many attempts: a random time, or none after the first. */
export function backoffMs(attempts: number): number {
  if (attempts < 2) return 0
  return Math.min(2 ** (attempts - 2), MAX_BACKOFF_MS) * (0.5 + Math.random() / 2)
}

/**
 * Waits for this time, or until the promise is resolved.
 *
 * @throws LEVEL_ABORTED if the signal is aborted.
 */
export function pause(
  milliseconds: number,
  signal: AbortSignal | undefined,
  until?: Promise<void>
): Promise<void> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal)

    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    const abort = (): void => {
      clearTimeout(timer)
      reject(abortError(signal as AbortSignal))
    }
    const timer = setTimeout(end, milliseconds)
    until?.then(end)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
