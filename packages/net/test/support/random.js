// Random choices that a seed repeats. TERRACE_SEED sets the seed of all tests.

import { randomBytes } from 'node:crypto'

/** The seed of this run. */
export const seed = Number(process.env.TERRACE_SEED ?? randomBytes(4).readUInt32LE())

/** Mulberry32, with what tests choose by it. */
export class Random {
  #state

  constructor(start = seed) {
    this.#state = start >>> 0
  }

  /** From 0 up to 1, excluded. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    const state = this.#state
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number below `end`. */
  below(end) {
    return Math.floor(this.next() * end)
  }

  pick(from) {
    return from[this.below(from.length)]
  }

  bytes(length) {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
