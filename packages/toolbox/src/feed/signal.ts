/** Something that happens again and again, to be waited for. */

/** Wakes those who wait. Who takes `count` before it looks, and then waits from there, misses nothing. */
export class Signal {
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** How often it was raised. */
  get count(): number {
    return this.#count
  }

  /** Wakes all who wait. */
  raise(): void {
    this.#count++
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  /** Waits until it was raised more than `count` times, or `abort` is aborted. */
  async after(count: number, abort?: AbortSignal): Promise<void> {
    if (this.#count > count || abort?.aborted === true) return

    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        abort?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      abort?.addEventListener('abort', wake)
    })
  }
}

/**
 * A generator that also ends while it waits: `return()` aborts `stop`. By itself a generator would not end
 * before it has what it waits for.
 */
export function endable<Item>(
  make: (stop: AbortController) => AsyncGenerator<Item, void, void>
): AsyncGenerator<Item, void, void> {
  const stop = new AbortController()
  const generator = make(stop)
  const end = generator.return.bind(generator)

  generator.return = (value) => {
    stop.abort()
    return end(value)
  }
  return generator
}
