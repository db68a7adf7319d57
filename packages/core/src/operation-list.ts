/** Operations that are not written yet, as a back-end takes them, in which a hook function's `getSync` looks first. */

import type { Bytes } from './backend.js'

export class OperationList {
  /** Keys and values in turns, with null for the value of a key to delete. */
  readonly flat: Array<Bytes | null> = []
  /** The last place of each key among the first operations; made when somebody looks. */
  #places: Map<string, number> | undefined
  #placed = 0

  get length(): number {
    return this.flat.length / 2
  }

  push(key: Bytes, value: Bytes | null): void {
    this.flat.push(key, value)
  }

  /** Removes the operations from a place on. */
  truncate(length: number): void {
    if (length === this.length) return
    this.flat.length = 2 * length
    this.#places = undefined
  }

  append(other: OperationList): void {
    for (const part of other.flat) this.flat.push(part)
  }

  /**
   * The value that the last operation on a key has: null if it deletes it, undefined if there is none.
   *
   * @param identity - Of the key, by {@link identityOf}.
   */
  find(identity: string): Bytes | null | undefined {
    if (this.flat.length === 0) return undefined
    const index = this.#index().get(identity)
    return index === undefined ? undefined : this.flat[2 * index + 1]
  }

  #index(): Map<string, number> {
    if (this.#places === undefined) {
      this.#places = new Map()
      this.#placed = 0
    }

    for (; this.#placed < this.length; this.#placed++) {
      this.#places.set(identityOf(this.flat[2 * this.#placed] as Bytes), this.#placed)
    }

    return this.#places
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\u0000-\u007f]*$/

/** A string that is the same for a key in any format, and no other key has. */
export function identityOf(key: Bytes): string {
  if (typeof key === 'string') return ascii.test(key) ? key : Buffer.from(key).toString('latin1')
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

/** A key or value in the format that somebody reads. */
export function inFormat(bytes: Bytes, format: string | undefined): Bytes {
  if (format === 'utf8') return typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()
  return Buffer.from(bytes as string)
}

/** Bytes that stay as they are, whatever becomes of the caller's. */
export function copyOf(bytes: Bytes): Bytes {
  if (typeof bytes === 'string') return bytes
  return Buffer.isBuffer(bytes) ? Buffer.from(bytes) : new Uint8Array(bytes)
}
