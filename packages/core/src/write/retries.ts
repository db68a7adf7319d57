/** When and how often work is repeated that has met a conflict with writes of others. */

import { codedError } from '../errors.js'

const DEFAULT_RETRIES = 100

/** The pause doubles with each attempt, from 1 ms to this. */
const MAX_PAUSE_MS = 64

/** The option `retries`. */
export function checkedRetries(given: number | undefined): number {
  const retries = given ?? DEFAULT_RETRIES
  if ((Number.isInteger(retries) && retries >= 0) || retries === Number.POSITIVE_INFINITY) return retries
  throw codedError(
    'LEVEL_INVALID_ARGUMENT',
    "The option 'retries' must be a whole number, 0 or more, or Infinity"
  )
}

/**
 * Waits before the given attempt, counted from 1: not before the first, and then a random time.
 *
 * @throws LEVEL_ABORTED as soon as the signal is aborted.
 */
export async function backOff(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  throwIfAborted(signal)
  if (attempt === 1) return
  const pauseMs = Math.min(2 ** (attempt - 2), MAX_PAUSE_MS) * (0.5 + Math.random() / 2)
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, pauseMs)
    signal?.addEventListener('abort', end, { once: true })
  })
  throwIfAborted(signal)
}

/** @throws LEVEL_ABORTED, as abstract-level's, if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  const error = codedError('LEVEL_ABORTED', 'Operation has been aborted')
  throw Object.assign(error, { name: 'AbortError', cause: signal.reason })
}
