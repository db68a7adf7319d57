/** How often something may happen, on average. A second's worth may happen at once. */

export class Rate {
  readonly #perSecond: number
  readonly #capacity: number
  #left: number
  #at = performance.now()

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#capacity = Math.max(1, perSecond)
    this.#left = this.#capacity
  }

  /** Counts one, and returns how long to wait before the next one, in ms. */
  take(): number {
    if (this.#perSecond === Number.POSITIVE_INFINITY) return 0
    const now = performance.now()
    const gained = ((now - this.#at) / 1000) * this.#perSecond
    this.#left = Math.min(this.#capacity, this.#left + gained) - 1
    this.#at = now
    return this.#left >= 1 ? 0 : ((1 - this.#left) / this.#perSecond) * 1000
  }
}
