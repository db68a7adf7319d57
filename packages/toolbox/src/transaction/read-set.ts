import type { ByteString } from '../encoded.js'
import { DisjointRanges } from './disjoint-ranges.js'
import type { KeyRange } from './key-range.js'
import { countBefore } from './sorted.js'

/** What a transaction has read: keys, also those that were not there, and ranges. */
export class ReadSet {
  readonly #keys = new Set<ByteString>()
  readonly #ranges: KeyRange[] = []

  addKey(key: ByteString): void {
    this.#keys.add(key)
  }

  /** Adds a range. It may change later, as an iterator gets on. */
  addRange(range: KeyRange): void {
    this.#ranges.push(range)
  }

  /** What it is now, to compare many writes with. */
  now(): ReadIndex {
    return new ReadIndex(this.#keys, this.#ranges)
  }
}

/** What was read, in an order that finds keys and ranges by bisection. It is made when it is first needed. */
export class ReadIndex {
  readonly #keys: ReadonlySet<ByteString>
  readonly #ranges: readonly KeyRange[]
  #disjoint: DisjointRanges | undefined
  #sortedKeys: ByteString[] | undefined

  constructor(keys: ReadonlySet<ByteString>, ranges: readonly KeyRange[]) {
    this.#keys = keys
    this.#ranges = ranges
  }

  /** Whether a key was read, by itself or in a range. */
  hasKey(key: ByteString): boolean {
    return this.#keys.has(key) || (this.#ranges.length > 0 && this.#disjointRanges.contains(key))
  }

  /** Whether something in a range was read. */
  overlaps(range: KeyRange): boolean {
    return this.#disjointRanges.overlaps(range) || this.#hasKeyWithin(range)
  }

  get #disjointRanges(): DisjointRanges {
    this.#disjoint ??= new DisjointRanges(this.#ranges)
    return this.#disjoint
  }

  #hasKeyWithin({ from, to }: KeyRange): boolean {
    this.#sortedKeys ??= [...this.#keys].sort((a, b) => (a < b ? -1 : 1))
    const keys = this.#sortedKeys
    const first = keys[countBefore(keys.length, (index) => (keys[index] as ByteString) < from)]
    return first !== undefined && (to === undefined || first < to)
  }
}
