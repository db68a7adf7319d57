/** What hook functions read: stored data and, on databases that do not show it, what the same batch has changed. */

import { byteString } from '../encoded.js'
/** The entries of an index. */
export interface StoredEntries {
  /** Reads what is stored with an entry. */
  read(key: Uint8Array): Uint8Array | undefined
}

export interface Reads {
  /** The decoded value of a primary key; undefined if there is none. */
  value(key: Uint8Array): unknown
  /** The same, but undefined also if a view hides the record. */
  shownValue(key: Uint8Array): unknown
  /** The primary key that is stored with an entry of a unique index. */
  entry(index: StoredEntries, key: Uint8Array): Uint8Array | undefined
}

/** The earlier operations of a batch, on top of what is stored. */
export class Earlier implements Reads {
  readonly #stored: Reads
  readonly #values = new Map<string, unknown>()
  readonly #entries = new Map<StoredEntries, Map<string, Uint8Array | undefined>>()

  constructor(stored: Reads) {
    this.#stored = stored
  }

  value(key: Uint8Array): unknown {
    const identity = byteString(key)
    return this.#values.has(identity) ? this.#values.get(identity) : this.#stored.value(key)
  }

  shownValue(key: Uint8Array): unknown {
    const identity = byteString(key)
    return this.#values.has(identity) ? this.#values.get(identity) : this.#stored.shownValue(key)
  }

  entry(index: StoredEntries, key: Uint8Array): Uint8Array | undefined {
    const entries = this.#entries.get(index)
    const identity = byteString(key)
    return entries?.has(identity) ? entries.get(identity) : this.#stored.entry(index, key)
  }

  noteValue(identity: string, value: unknown): void {
    this.#values.set(identity, value)
  }

  /** Notes an entry of a unique index, or undefined for a deleted one. */
  noteEntry(index: StoredEntries, key: Uint8Array, primary: Uint8Array | undefined): void {
    let entries = this.#entries.get(index)
    if (entries === undefined) {
      entries = new Map()
      this.#entries.set(index, entries)
    }
    entries.set(byteString(key), primary)
  }
}
