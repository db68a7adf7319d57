import { timerMs } from '../protocol/timer.js'

/** A signal that is aborted after some time, or with another one. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Ends the wait. */
  clear(): void
}

/**
 * Aborts after `timeoutMs` with a TimeoutError, or with `other` for its reason. `AbortSignal.any()` would hold the signal of
 * `AbortSignal.timeout()` weakly: once that is collected, nothing is aborted any more.
 */
export function deadline(timeoutMs: number, other: AbortSignal): Deadline {
  const controller = new AbortController()
  const abort = (): void => controller.abort(other.reason)
  const isLate = (): void => controller.abort(new DOMException('The time is over', 'TimeoutError'))
  const timer = setTimeout(isLate, timerMs(Math.ceil(timeoutMs)))
  if (other.aborted) abort()
  else other.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer)
      other.removeEventListener('abort', abort)
    }
  }
}
