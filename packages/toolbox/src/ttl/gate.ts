/** What waits to begin, or has begun. */
interface Visitor {
  isAlone: boolean
  begin(): void
}

/**
 * Lets writes through together, and removals alone: in the order of their calls, so that neither waits for ever. A write
 * that need not wait begins within the call.
 */
export class Gate {
  readonly #waiting: Visitor[] = []
  #inside = 0
  #isTakenAlone = false

  /** Does `work` beside others that are here together. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.#enter(false, work)
  }

  /** Does `work` while nobody else is here. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#enter(true, work)
  }

  #enter<T>(isAlone: boolean, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        work()
          .finally(() => this.#leave())
          .then(resolve, reject)
      }
      this.#waiting.push({ isAlone, begin })
      this.#admit()
    })
  }

  #leave(): void {
    this.#inside--
    this.#isTakenAlone = false
    this.#admit()
  }

  #admit(): void {
    let next = this.#waiting[0]

    while (next !== undefined && !this.#isTakenAlone && (this.#inside === 0 || !next.isAlone)) {
      this.#waiting.shift()
      this.#inside++
      this.#isTakenAlone = next.isAlone
      next.begin()
      next = this.#waiting[0]
    }
  }
}
