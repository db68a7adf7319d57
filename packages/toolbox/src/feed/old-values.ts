/** The values that keys have before an operation, for hooks. */

import { byteString } from '../encoded.js'
import type { PrewriteBatch } from '../hooks.js'

/** Looks up a value as it is stored, by the key as it is passed here. */
type Stored = (key: Buffer) => Buffer | undefined

/** Looks up values within hooks, where writes take effect in order. */
export class OldValues {
  readonly #stored: Stored
  readonly #showsOwnBatch: boolean
  #batch: PrewriteBatch | undefined
  /** What the operations of the batch so far make of keys; null: deleted. */
  readonly #written = new Map<string, Buffer | null>()

  /** @param showsOwnBatch - Whether `stored` shows the earlier operations of the same batch. */
  constructor(stored: Stored, showsOwnBatch: boolean) {
    this.#stored = stored
    this.#showsOwnBatch = showsOwnBatch
  }

  /** The value of a key before the next operation of `batch`; null if there is none. */
  get(batch: PrewriteBatch, key: Buffer): Buffer | null {
    const written = this.#showsOwnBatch ? undefined : this.#of(batch).get(byteString(key))
    return written === undefined ? (this.#stored(key) ?? null) : written
  }

  /** Notes what an operation of `batch` makes of a key; null if it deletes it. */
  set(batch: PrewriteBatch, key: Buffer, value: Buffer | null): void {
    if (!this.#showsOwnBatch) this.#of(batch).set(byteString(key), value)
  }

  #of(batch: PrewriteBatch): Map<string, Buffer | null> {
    if (batch !== this.#batch) {
      this.#batch = batch
      this.#written.clear()
    }
    return this.#written
  }
}
