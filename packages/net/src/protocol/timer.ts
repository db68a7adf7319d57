/** The longest time that a timer can wait for. One that is to wait longer would go off at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** How long a timer is to wait, of what a user has asked for, Infinity included. */
export function timerMs(durationMs: number): number {
  return Math.min(durationMs, MAX_TIMER_MS)
}
