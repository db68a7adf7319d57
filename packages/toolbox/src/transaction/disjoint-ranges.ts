import type { ByteString } from '../encoded.js'
import type { KeyRange } from './key-range.js'
import { countBefore } from './sorted.js'

/**
 * The keys of many ranges. Overlapping ranges are merged, so that a key is in at most one range, which a binary search
 * finds.
 */
export class DisjointRanges {
  /** The starts, in order. */
  readonly #starts: ByteString[] = []
  /** The end of each range, as in {@link KeyRange}. Only the last one may be undefined. */
  readonly #ends: Array<ByteString | undefined> = []

  constructor(ranges: readonly KeyRange[]) {
    // Copies, because some ranges compute their bounds on access, from how far an iterator has got.
    const sorted = ranges.map(({ from, to }) => ({ from, to })).sort((a, b) => (a.from < b.from ? -1 : 1))
    for (const range of sorted) if (range.to === undefined || range.from < range.to) this.#add(range)
  }

  /** The ranges, in order. */
  all(): KeyRange[] {
    return this.#starts.map((from, index) => ({ from, to: this.#ends[index] }))
  }

  /** Whether a key is in one of the ranges. */
  contains(key: ByteString): boolean {
    return this.#reaches(this.#startedBy(key) - 1, key)
  }

  /** Whether one of the ranges overlaps another range. */
  overlaps({ from, to }: KeyRange): boolean {
    const started = this.#startedBy(from)
    if (this.#reaches(started - 1, from)) return true
    const next = this.#starts[started]
    return next !== undefined && (to === undefined || next < to)
  }

  /** The number of ranges that start at or before a key. */
  #startedBy(key: ByteString): number {
    return countBefore(this.#starts.length, (index) => key >= (this.#starts[index] as ByteString))
  }

  /** Whether a range, which starts at or before the key, ends after it. */
  #reaches(index: number, key: ByteString): boolean {
    if (index < 0) return false
    const end = this.#ends[index]
    return end === undefined || key < end
  }

  #add({ from, to }: KeyRange): void {
    const last = this.#ends.length - 1
    const end = this.#ends[last]

    if (last >= 0 && (end === undefined || from <= end)) {
      if (end !== undefined && (to === undefined || to > end)) this.#ends[last] = to
    } else {
      this.#starts.push(from)
      this.#ends.push(to)
    }
  }
}
