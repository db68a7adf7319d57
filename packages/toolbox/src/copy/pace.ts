/** How often progress is reported: at most four times per second. */

const REPORT_INTERVAL_MS = 250

/** Determines when the next report is due. */
export class Pace {
  #reportedAt = performance.now()

  /**
   * Whether enough time has passed since the last report or the beginning. A report that is due counts as
   * made.
   */
  isDue(): boolean {
    const now = performance.now()
    if (now - this.#reportedAt < REPORT_INTERVAL_MS) return false
    this.#reportedAt = now
    return true
  }
}
