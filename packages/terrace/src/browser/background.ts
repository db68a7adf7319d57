/** When a background job of the engine has its turn: between the calls and events of a worker. */

/** The engine begins some jobs when nothing was written for a while (`idle_after_ms`). */
const IDLE_MS = 2500

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
    if (this.#isBusy) return
    clearTimeout(this.#timer)
    this.#isBusy = true
    this.#timer = setTimeout(() => void this.#run(false), 0)
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
    if (goesOn) this.begin()
    else if (!wasIdle) this.#timer = setTimeout(() => void this.#run(true), IDLE_MS)
  }
}
