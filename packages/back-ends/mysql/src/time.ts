/** Deadlines: moments of the clock that only goes forward, in milliseconds. */

export function now(): number {
  return performance.now()
}

/** How long there is until a moment. Never negative. */
export function until(end: number): number {
  return Math.max(0, end - now())
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
