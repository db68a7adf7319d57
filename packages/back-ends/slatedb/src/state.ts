/** States of a database that do not change while others write. */

import type { BackendSnapshot } from 'terrace-core'
import type { Source } from './binding.js'

/** A state to read from, until it is closed. */
export interface State extends BackendSnapshot {
  /** Reads from the state, and then verifies that it has not changed. */
  use<T>(read: (source: Source) => Promise<T>): Promise<T>
  close(): void
}

/** A snapshot of the engine. It keeps the data it shows from being removed. */
export class WriterState implements State {
  readonly #opening: Promise<Source>

  constructor(opening: Promise<Source>) {
    this.#opening = opening
    // Reads from the state report the error.
    opening.catch(() => undefined)
  }

  async use<T>(read: (source: Source) => Promise<T>): Promise<T> {
    return read(await this.#opening)
  }

  close(): void {
    this.#opening.then(
      (source) => source.dispose(),
      () => undefined
    )
  }
}
