/** How many bytes a server holds for its clients: for each user, and in all. Whoever has no room waits until some is released. */

export class Budget {
  readonly #maxBytes: number
  readonly #parent: Budget | undefined
  readonly #waiting = new Set<() => void>()
  #isWaking = false
  heldBytes = 0

  /** @param parent - Holds what this one holds, and that of others. */
  constructor(maxBytes: number, parent?: Budget) {
    this.#maxBytes = maxBytes
    this.#parent = parent
  }

  get isFull(): boolean {
    return this.heldBytes >= this.#maxBytes || this.#parent?.isFull === true
  }

  /** Notes that so much more is held, or less. */
  add(bytes: number): void {
    this.heldBytes += bytes
    if (bytes < 0 && this.#waiting.size > 0) this.#wakeSoon()
    this.#parent?.add(bytes)
  }

  /** Calls a function when something was released, here or for another user. It looks again whether there is room. */
  whenReleased(look: () => void): void {
    this.#waiting.add(look)
    this.#parent?.whenReleased(look)
  }

  #wakeSoon(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    setImmediate(() => {
      this.#isWaking = false
      const waiting = [...this.#waiting]
      this.#waiting.clear()
      for (const look of waiting) look()
    })
  }
}
