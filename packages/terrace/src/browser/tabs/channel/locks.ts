/** Web Locks. The browser gives a lock back when its holder is gone, in whatever way, so a lock tells whether somebody still lives. */

/**
 * Takes a lock when it is free, and keeps it until the signal is aborted. Resolves when it is given back, or is no longer wanted.
 *
 * @param onGranted - Called when the lock is held.
 * @param steal - Whether to take it from whoever has it.
 * @throws An AbortError if somebody else has stolen it.
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

/** Whether anybody holds a lock. */
export async function isHeld(name: string): Promise<boolean> {
  const { held } = await navigator.locks.query()
  return held?.some((lock) => lock.name === name) === true
}

/** Calls back once when nobody holds a lock any more, unless the signal is aborted before. */
export function whenFree(name: string, signal: AbortSignal, onFree: () => void): void {
  const request = navigator.locks.request(name, { mode: 'shared', signal }, () => {
    if (!signal.aborted) onFree()
  })
  // It ends with the signal, or with the page.
  request.catch(() => {})
}
