/** Runs the background jobs of the engine between the calls and events of a worker. */

/** The engine begins some jobs when nothing was written for a while (`idle_after_ms`). */
const IDLE_MS = 2500

/** How soon after a write a job begins. If it began at once, each of a page's sequential writes would wait for a separate job. */
const BEGIN_MS = 5

export class Background {
  readonly #step: () => Promise<boolean>
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether a job is running or scheduled. */
  #isBusy = false
  #hasStopped = false

  /** @param step - Runs one job. Returns whether another may wait. */
  constructor(step: () => Promise<boolean>) {
    this.#step = step
  }

  /** Call it when jobs may wait. */
  begin(): void {
    this.#schedule(BEGIN_MS)
  }

  #schedule(delayMs: number): void {
    if (this.#isBusy || this.#hasStopped) return
    clearTimeout(this.#timer)
    this.#isBusy = true
    this.#timer = setTimeout(() => void this.#run(false), delayMs)
  }

  stop(): void {
    this.#hasStopped = true
    clearTimeout(this.#timer)
  }

  async #run(wasIdle: boolean): Promise<void> {
    this.#isBusy = true
    // A failed job makes the engine reject writes; the next write reports that.
    const goesOn = await this.#step().catch(() => false)
    if (this.#hasStopped) return
    this.#isBusy = false
    if (goesOn) this.#schedule(0)
    else if (!wasIdle) this.#timer = setTimeout(() => void this.#run(true), IDLE_MS)
  }
}
