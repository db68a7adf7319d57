/** Random input that can be made again from its seed. */

const RANGE = 2 ** 32

/** Random numbers from a seed: the same ones on every machine and in every version of Node. */
export class Random {
  private state: number

  /** @param seed - A whole number from 0 to 4294967295. */
  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    // A counter in odd steps, whose bits are then mixed: it visits every number before one comes again.
    this.state = (this.state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / RANGE
  }

  /** A whole number from `first` to `last`, both included. */
  integer(first: number, last: number): number {
    return first + Math.floor(this.next() * (last - first + 1))
  }

  /** One of `items`. */
  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)] as T
  }

  /** The items in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items]
    for (let last = result.length - 1; last > 0; last--) {
      const other = this.integer(0, last)
      const item = result[last] as T
      result[last] = result[other] as T
      result[other] = item
    }
    return result
  }

  /** Bytes of any value. */
  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.integer(0, 255)))
  }

  /** A word of small letters. */
  word(length: number): string {
    return Array.from({ length }, () => this.pick([...'abcdefghijklmnopqrstuvwxyz'])).join('')
  }
}

/** Returns a random seed. */
export function anySeed(): number {
  return Math.floor(Math.random() * RANGE)
}
