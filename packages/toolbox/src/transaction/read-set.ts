import type { ByteString } from '../encoded.js'
import { contains, type KeyRange, overlap } from './key-range.js'

/** What a transaction has read: keys, also those that were not there, and ranges. */
export class ReadSet {
  readonly #keys = new Set<ByteString>()
  readonly #ranges: KeyRange[] = []

  get isEmpty(): boolean {
    return this.#keys.size === 0 && this.#ranges.length === 0
  }

  addKey(key: ByteString): void {
    this.#keys.add(key)
  }

  /** Adds a range. It may be changed later, as an iterator gets on. */
  addRange(range: KeyRange): void {
    this.#ranges.push(range)
  }

  hasKey(key: ByteString): boolean {
    return this.#keys.has(key) || this.#ranges.some((range) => contains(range, key))
  }

  overlaps(range: KeyRange): boolean {
    for (const key of this.#keys) if (contains(range, key)) return true
    return this.#ranges.some((own) => overlap(own, range))
  }
}
