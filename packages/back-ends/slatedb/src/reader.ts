/** A database opened for reading, beside a writer on this machine or another. */

import type { Binding, Native, Source } from './binding.js'
import type { Calls } from './calls.js'
import { Generation } from './generation.js'
import type { Settings } from './options.js'
import type { State } from './state.js'

/** A state that a reader has shown. It keeps the generation open. */
class ReaderState implements State {
  readonly #generation: Generation

  constructor(generation: Generation) {
    this.#generation = generation
    generation.retain()
  }

  async use<T>(read: (source: Source) => Promise<T>): Promise<T> {
    return this.#generation.exactly(read)
  }

  close(): void {
    this.#generation.release()
  }
}

export class Reader {
  readonly #open: () => Promise<Generation>
  readonly #lifetimeMs: number
  #current: Generation
  #refreshing: Promise<void> | undefined
  readonly #timer: NodeJS.Timeout

  private constructor(open: () => Promise<Generation>, first: Generation, settings: Settings) {
    this.#open = open
    this.#current = first
    this.#lifetimeMs = settings.snapshotLifetimeMs
    this.#timer = setInterval(() => {
      // The next attempt may succeed. Until then, the previous state remains.
      if (this.#refreshing === undefined) this.refresh().catch(() => undefined)
    }, settings.refreshIntervalMs)
    this.#timer.unref()
  }

  static async open(binding: Binding, store: Native, calls: Calls, settings: Settings): Promise<Reader> {
    const open = (): Promise<Generation> =>
      Generation.open(binding, store, calls, settings.snapshotLifetimeMs)
    return new Reader(open, await open(), settings)
  }

  /** The source for reads without a particular state. */
  get source(): Source {
    return this.#current.source
  }

  snapshot(): State {
    return new ReaderState(this.#current)
  }

  /** Shows what the writer has stored by now. If it fails, the state is unchanged. */
  async refresh(): Promise<void> {
    // A running refresh may have begun too early for what the caller wants to see.
    const before = this.#refreshing
    const refreshing = (before ?? Promise.resolve()).catch(() => undefined).then(() => this.#refresh())
    this.#refreshing = refreshing
    try {
      await refreshing
    } finally {
      if (this.#refreshing === refreshing) this.#refreshing = undefined
    }
  }

  async #refresh(): Promise<void> {
    const isYoung = this.#current.ageMs < this.#lifetimeMs / 4
    if (isYoung && !(await this.#current.isOutdated())) return

    const next = await this.#open()
    this.#current.release()
    this.#current = next
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#refreshing?.catch(() => undefined)
    await this.#current.release()
  }
}
