/** A recurring event that can be waited for. */

/** Wakes everyone who waits. Reading `count` before looking, and then waiting from that count, misses nothing. */
export class Signal {
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** How often the signal was raised. */
  get count(): number {
    return this.#count
  }

  /** Wakes everyone who waits. */
  raise(): void {
    this.#count++
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  /** Waits until the signal was raised more than `count` times, or `abort` is aborted. */
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
 * A generator that can be ended even while it waits: `return()` aborts `stop`. A plain generator would not end before it gets
 * what it waits for.
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
