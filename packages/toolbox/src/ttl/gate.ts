/** Work that waits to begin, or has begun. */
interface Visitor {
  isAlone: boolean
  begin(): void
}

/**
 * Lets writes run together, and removals alone, in the order of their calls, so that neither waits forever. A write that need
 * not wait begins within the call.
 */
export class Gate {
  readonly #waiting: Visitor[] = []
  #inside = 0
  #isTakenAlone = false

  /** Runs `work` together with other such work. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.#enter(false, work)
  }

  /** Runs `work` while nothing else runs. */
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
