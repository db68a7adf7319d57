/** The values that keys have before an operation, for hooks. */

import type { Buffer } from '../buffer.js'
import { byteString } from '../encoded.js'
import type { PrewriteBatch } from '../hooks.js'

/** Looks up the stored value of a key. */
type Stored = (key: Buffer) => Buffer | undefined

/** Looks up values within hooks, where writes take effect in order. */
export class OldValues {
  readonly #stored: Stored
  readonly #showsOwnBatch: boolean
  #batch: PrewriteBatch | undefined
  /** The values of keys after the operations of the batch so far; null for a deleted key. */
  readonly #written = new Map<string, Buffer | null>()

  /** @param showsOwnBatch - Whether `stored` shows the earlier operations of the same batch. */
  constructor(stored: Stored, showsOwnBatch: boolean) {
    this.#stored = stored
    this.#showsOwnBatch = showsOwnBatch
  }

  /** Returns the value of a key before the next operation of `batch`; null if there is none. */
  get(batch: PrewriteBatch, key: Buffer): Buffer | null {
    const written = this.#showsOwnBatch ? undefined : this.#of(batch).get(byteString(key))
    return written === undefined ? (this.#stored(key) ?? null) : written
  }

  /** Notes the value that an operation of `batch` gives to a key; null if it deletes the key. */
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
