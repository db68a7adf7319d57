/** The values that keys have before an operation, for hooks. */

import type { KeySpace, PrewriteBatch } from './key-space.js'

/** Looks up values within hooks, where writes take effect in order. */
export class OldValues {
  readonly #space: KeySpace
  readonly #showsOwnBatch: boolean
  #batch: PrewriteBatch | undefined
  /** What the operations of the batch so far have made of their keys; null: deleted. */
  readonly #written = new Map<string, Buffer | null>()

  /** @param showsOwnBatch - Whether `getSync` shows the earlier operations of the same batch. */
  constructor(space: KeySpace, showsOwnBatch: boolean) {
    this.#space = space
    this.#showsOwnBatch = showsOwnBatch
  }

  /**
   * The value of `key` before an operation of `batch`, and notes what the operation makes of it.
   *
   * @param value - The new value; null if the key is deleted.
   */
  replace(batch: PrewriteBatch, key: Buffer, value: Buffer | null): Buffer | null {
    if (this.#showsOwnBatch) return this.#space.storedValue(key) ?? null

    if (batch !== this.#batch) {
      this.#batch = batch
      this.#written.clear()
    }

    const name = key.toString('latin1')
    const written = this.#written.get(name)
    this.#written.set(name, value)
    return written === undefined ? (this.#space.storedValue(key) ?? null) : written
  }
}
