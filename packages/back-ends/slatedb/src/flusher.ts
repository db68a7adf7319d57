/** When what the engine has accepted is written to the store: soon, so that several writes share a request, or at once. */

import { Outcome } from './outcome.js'

export class Flusher {
  readonly #flush: () => Promise<void>
  readonly #intervalMs: number
  /** What the next flush will make durable; undefined if nothing has been accepted since the last one began. */
  #next: Outcome | undefined
  #timer: NodeJS.Timeout | undefined
  #isRunning = false
  /** Whether the next flush begins as soon as the running one has ended. */
  #isDue = false

  /**
   * @param flush - Makes everything durable that has been accepted so far.
   * @param intervalMs - How long a write may wait for others before a flush begins.
   */
  constructor(flush: () => Promise<void>, intervalMs: number) {
    this.#flush = flush
    this.#intervalMs = intervalMs
  }

  /**
   * Settles when everything that has been accepted so far is durable.
   *
   * @param now - Whether to begin at once.
   */
  durable(now: boolean): Promise<void> {
    this.#next ??= new Outcome()
    const { promise } = this.#next
    if (now || this.#intervalMs === 0) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), this.#intervalMs)
    return promise
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isRunning) this.#isDue = true
    else if (this.#next !== undefined) void this.#run(this.#next)
  }

  async #run(round: Outcome): Promise<void> {
    this.#isRunning = true
    this.#isDue = false
    this.#next = undefined
    try {
      await this.#flush()
      round.resolve()
    } catch (error) {
      round.reject(error)
    }
    this.#isRunning = false
    if (this.#isDue) this.#begin()
  }
}
