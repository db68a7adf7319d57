/** Limits how long calls to the engine may take. The engine itself retries indefinitely while a store fails. */

interface Waiting {
  readonly until: number
  readonly expire: () => void
}

export class Deadlines {
  readonly #milliseconds: number
  readonly #error: (operation: string) => Error
  /** In the order of their deadlines, because all calls have the same time. */
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined

  /**
   * @param milliseconds - How long each call may take.
   * @param error - Makes the error for a call that takes longer, from the call's name.
   */
  constructor(milliseconds: number, error: (operation: string) => Error) {
    this.#milliseconds = milliseconds
    this.#error = error
  }

  /** The result of the call, or an error after the deadline. The call itself continues, and its result is dropped. */
  within<T>(operation: string, call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        until: performance.now() + this.#milliseconds,
        expire: () => reject(this.#error(operation))
      }
      this.#waiting.add(waiting)
      this.#arm()
      call.then(resolve, reject).finally(() => this.#waiting.delete(waiting))
    })
  }

  #arm(): void {
    const [first] = this.#waiting
    if (first === undefined || this.#timer !== undefined) return
    // Only the first of the waiting calls needs a timer, so most calls start none.
    const left = Math.max(1, Math.ceil(first.until - performance.now()))
    this.#timer = setTimeout(() => this.#expire(), left)
    // While a call runs, the binding keeps the process alive.
    this.#timer.unref()
  }

  #expire(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const waiting of this.#waiting) {
      if (waiting.until > now) break
      this.#waiting.delete(waiting)
      waiting.expire()
    }
    this.#arm()
  }
}
