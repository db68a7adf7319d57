/**
 * Limits how many values the database reads for clients at once. The size of a value is only known after it was read, so a budget
 * cannot be checked first. After large values, fewer are read at once.
 */

import type { Waiter } from './budget.js'

/** How many values are read at once while all have been small. */
export const MAX_READS = 64

export class Reads {
  /** The most bytes that the values read at once may have together. */
  readonly #maxBytes: number
  /** The largest value so far. */
  #largestBytes = 1
  #running = 0
  #waiting = new Set<Waiter>()
  #isCalling = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Begins to read this many values, or calls the session later, once it may try again. */
  begin(waiter: Waiter, values: number): boolean {
    const isNext = this.#waiting.size === 0 || this.#isCalling
    if (this.#running === 0 || (isNext && this.#running + values <= this.#most)) {
      this.#running += values
      return true
    }
    this.#waiting.add(waiter)
    return false
  }

  end(values: number): void {
    this.#running -= values
    // Batched: waiting connections are not read, and stopping and resuming them has a cost.
    if (this.#waiting.size > 0 && !this.#isCalling && this.#running <= this.#most / 2) {
      this.#isCalling = true
      queueMicrotask(() => this.#call())
    }
  }

  /** Records the size of a value. */
  saw(bytes: number): void {
    if (bytes > this.#largestBytes) this.#largestBytes = bytes
  }

  /** Removes a waiter. */
  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  get #most(): number {
    return Math.max(1, Math.min(MAX_READS, Math.floor(this.#maxBytes / this.#largestBytes)))
  }

  #call(): void {
    for (const waiter of [...this.#waiting]) {
      if (this.#running >= this.#most) break
      this.#waiting.delete(waiter)
      waiter.look()
      if (!this.#waiting.has(waiter)) continue
      // It needs more reads than may begin now, and stays first.
      this.#waiting = new Set([waiter, ...this.#waiting])
      break
    }
    this.#isCalling = false
    if (this.#running === 0 && this.#waiting.size > 0) this.end(0)
  }
}
