/**
 * The values that a server's database is reading for clients. How large a value is, is known only once it has been read, so no budget
 * can be asked before: so many are read at once, and fewer once large ones were seen.
 */

import type { Waiter } from './budget.js'

/** Values that are read at once, as long as none was large. */
export const MAX_READS = 64

export class Reads {
  /** What the values that are read at once may have together. */
  readonly #maxBytes: number
  /** The largest value so far. */
  #largestBytes = 1
  #running = 0
  #waiting = new Set<Waiter>()
  #isCalling = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Begins to read so many values, or calls a session later, when it may try again. */
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
    // Not for each alone: connections that wait are not read, and to stop and go costs something.
    if (this.#waiting.size > 0 && !this.#isCalling && this.#running <= this.#most / 2) {
      this.#isCalling = true
      queueMicrotask(() => this.#call())
    }
  }

  /** Notes how large a value was. */
  saw(bytes: number): void {
    if (bytes > this.#largestBytes) this.#largestBytes = bytes
  }

  /** Forgets one that waits. */
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
      // It wants to read more than may begin now, and stays the first.
      this.#waiting = new Set([waiter, ...this.#waiting])
      break
    }
    this.#isCalling = false
    if (this.#running === 0 && this.#waiting.size > 0) this.end(0)
  }
}
