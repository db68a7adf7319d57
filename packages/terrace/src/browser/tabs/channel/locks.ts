/** Web Locks. The browser releases a lock when its holder ends, in whatever way, so a lock shows whether its holder lives. */

/**
 * Takes a lock when it is free, and keeps it until the signal is aborted. Resolves when it is released or no longer wanted.
 *
 * @param onGranted - Called when the lock is held.
 * @param steal - Whether to take it from its current holder.
 * @throws An AbortError if another tab or worker has stolen it.
 */
export async function holdLock(
  name: string,
  signal: AbortSignal,
  onGranted: () => void,
  steal = false
): Promise<void> {
  try {
    // A lock that is stolen is granted at once, and takes no signal.
    await navigator.locks.request(name, steal ? { steal } : { signal }, () => {
      if (signal.aborted) return
      const released = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      onGranted()
      return released
    })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Whether a lock is held. */
export async function isHeld(name: string): Promise<boolean> {
  const { held } = await navigator.locks.query()
  return held?.some((lock) => lock.name === name) === true
}

/** Calls back once when a lock is no longer held, unless the signal is aborted before. */
export function whenFree(name: string, signal: AbortSignal, onFree: () => void): void {
  const request = navigator.locks.request(name, { mode: 'shared', signal }, () => {
    if (!signal.aborted) onFree()
  })
  // It ends with the signal, or with the page.
  request.catch(() => {})
}
