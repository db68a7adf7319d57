/** States of a database that stay as they are while others write. */

import type { BackendSnapshot } from 'terrace-core'
import type { Source } from './binding.js'

/** A state to read from, until it is closed. */
export interface State extends BackendSnapshot {
  /** Reads from the state, and checks afterwards that it was this one. */
  use<T>(read: (source: Source) => Promise<T>): Promise<T>
  close(): void
}

/** A snapshot of the engine. It keeps what it shows from being removed. */
export class WriterState implements State {
  readonly #opening: Promise<Source>

  constructor(opening: Promise<Source>) {
    this.#opening = opening
    // Whoever reads from it learns of the error.
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
