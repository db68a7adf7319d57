/**
 * The order of writes around a `clear`, which reads what earlier writes have stored, and deletes nothing that later ones store.
 * lmdb keeps the order of all other writes.
 */
export class WriteOrder {
  /** How many writes have not settled. */
  #pending = 0
  #whenSettled: (() => void) | undefined
  /** What was called during a clear. */
  #waiting: Array<() => void> = []
  #isClearing = false
  #clearing: Promise<void> = Promise.resolve()

  /** Whether a write can go to lmdb at once. */
  get isFree(): boolean {
    return !this.#isClearing
  }

  /** Notes a write that was given to lmdb. */
  track(write: Promise<void>): void {
    this.#pending++
    const settled = (): void => {
      if (--this.#pending === 0) this.#whenSettled?.()
    }
    write.then(settled, settled)
  }

  /** Begins a write when all clears that were called before have given theirs to lmdb. */
  wait(write: () => void | Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(write())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  /** Runs a clear after all earlier writes. Later ones wait until it has ended. */
  clear(work: () => Promise<void>): Promise<void> {
    if (this.#isClearing) return this.wait(() => this.clear(work))

    this.#isClearing = true
    const clearing = this.#run(work)
    this.#clearing = clearing.catch(() => undefined)
    return clearing
  }

  async #run(work: () => Promise<void>): Promise<void> {
    try {
      if (this.#pending > 0) await this.#settled()
      await work()
    } finally {
      this.#isClearing = false
      this.#release()
    }
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenSettled = () => {
        this.#whenSettled = undefined
        resolve()
      }
    })
  }

  /** Begins what has waited, up to the next clear. */
  #release(): void {
    while (!this.#isClearing && this.#waiting.length > 0) (this.#waiting.shift() as () => void)()
  }

  /** Settles when no clear is running or waiting. */
  async whenFree(): Promise<void> {
    while (this.#isClearing) await this.#clearing
  }
}
