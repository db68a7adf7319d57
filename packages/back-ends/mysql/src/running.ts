/** Tracks running operations, so that callers can wait for their end. */
export class Running {
  #count = 0
  #whenIdle: (() => void) | undefined

  /** Tracks an operation, and returns its promise. */
  note<T>(operation: Promise<T>): Promise<T> {
    this.#count++
    const ended = (): void => {
      if (--this.#count === 0) this.#whenIdle?.()
    }
    operation.then(ended, ended)
    return operation
  }

  /** Settles when none is running. */
  async whenIdle(): Promise<void> {
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve
    })
  }
}
