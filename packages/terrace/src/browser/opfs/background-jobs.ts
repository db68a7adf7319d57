/** When a background job of the engine has its turn: between the calls and events of a worker. */

/** The engine begins some jobs when nothing was written for a while (`idle_after_ms`). */
const IDLE_MS = 2500

/** So soon after a write a job begins. At once, each of the writes that come one by one from a page would wait for a turn of its own. */
const BEGIN_MS = 5

export class Background {
  readonly #step: () => Promise<boolean>
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether a job has its turn, or is about to. */
  #isBusy = false
  #hasStopped = false

  /** @param step - Runs one job. Returns whether another may wait. */
  constructor(step: () => Promise<boolean>) {
    this.#step = step
  }

  /** Says that jobs may wait. */
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
    // A failed job has the engine refuse writes; the next one says so.
    const goesOn = await this.#step().catch(() => false)
    if (this.#hasStopped) return
    this.#isBusy = false
    if (goesOn) this.#schedule(0)
    else if (!wasIdle) this.#timer = setTimeout(() => void this.#run(true), IDLE_MS)
  }
}
