/** Operations that are not written yet, in the form that a back-end takes. A hook function's `getSync` looks here first. */

import type { Bytes } from '../backend.js'
import { Buffer } from '../buffer.js'

export class OperationList {
  /** Keys and values alternate, with null for the value of a key to delete. */
  readonly flat: Array<Bytes | null> = []
  /** The last index of each key among the operations indexed so far; made by the first lookup. */
  #indexes: Map<string, number> | undefined
  #indexed = 0

  get length(): number {
    return this.flat.length / 2
  }

  push(key: Bytes, value: Bytes | null): void {
    this.flat.push(key, value)
  }

  /** Removes the operations from an index on. */
  truncate(length: number): void {
    if (length === this.length) return
    this.flat.length = 2 * length
    this.#indexes = undefined
  }

  append(other: OperationList): void {
    for (const part of other.flat) this.flat.push(part)
  }

  /**
   * Returns the value that the last operation on a key stores: null if it deletes the key, undefined if there is none.
   *
   * @param identity - The key's identity; see {@link identityOf}.
   */
  find(identity: string): Bytes | null | undefined {
    if (this.flat.length === 0) return undefined
    const index = this.#index().get(identity)
    return index === undefined ? undefined : this.flat[2 * index + 1]
  }

  #index(): Map<string, number> {
    if (this.#indexes === undefined) {
      this.#indexes = new Map()
      this.#indexed = 0
    }

    for (; this.#indexed < this.length; this.#indexed++) {
      this.#indexes.set(identityOf(this.flat[2 * this.#indexed] as Bytes), this.#indexed)
    }

    return this.#indexes
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\u0000-\u007f]*$/

/** A string that is the same for a key in every format, and differs between keys. */
export function identityOf(key: Bytes): string {
  if (typeof key === 'string') return ascii.test(key) ? key : Buffer.from(key).toString('latin1')
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

/** A key or value in the format that the reader wants. */
export function inFormat(bytes: Bytes, format: string | undefined): Bytes {
  if (format === 'utf8') return typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()
  return Buffer.from(bytes as string)
}

/** A copy that stays the same, whatever the caller does with its bytes. */
export function copyOf(bytes: Bytes): Bytes {
  if (typeof bytes === 'string') return bytes
  return Buffer.isBuffer(bytes) ? Buffer.from(bytes) : new Uint8Array(bytes)
}
