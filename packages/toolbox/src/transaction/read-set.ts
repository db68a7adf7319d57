import type { ByteString } from '../encoded.js'
import { DisjointRanges } from './disjoint-ranges.js'
import type { KeyRange } from './key-range.js'
import { countBefore } from './sorted.js'

/** What a transaction has read: keys, including those that did not exist, and ranges. */
export class ReadSet {
  readonly #keys = new Set<ByteString>()
  readonly #ranges: KeyRange[] = []

  addKey(key: ByteString): void {
    this.#keys.add(key)
  }

  /** Adds a range. It may still grow with its iterator. */
  addRange(range: KeyRange): void {
    this.#ranges.push(range)
  }

  /** The keys that were read alone. */
  keys(): ByteString[] {
    return [...this.#keys]
  }

  /** The ranges that were read, without those that overlap or touch others. */
  ranges(): KeyRange[] {
    return new DisjointRanges(this.#ranges).all()
  }

  /** The current contents, for comparing many writes with them. */
  now(): ReadIndex {
    return new ReadIndex(this.#keys, this.#ranges)
  }
}

/** What was read, in an order that lets bisection find keys and ranges. It is made when first needed. */
export class ReadIndex {
  readonly #keys: ReadonlySet<ByteString>
  readonly #ranges: readonly KeyRange[]
  #disjoint: DisjointRanges | undefined
  #sortedKeys: ByteString[] | undefined

  constructor(keys: ReadonlySet<ByteString>, ranges: readonly KeyRange[]) {
    this.#keys = keys
    this.#ranges = ranges
  }

  /** Whether a key was read, alone or as part of a range. */
  hasKey(key: ByteString): boolean {
    return this.#keys.has(key) || (this.#ranges.length > 0 && this.#disjointRanges.contains(key))
  }

  /** Whether anything in a range was read. */
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
