/** Random numbers that are the same for every target and every run with the same seed. */

import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export class Random {
  #generator

  /** @param {number} seed */
  constructor(seed) {
    this.#generator = xoroshiro128plus(seed)
  }

  /**
   * An integer from 0 up to, but not including, `bound`.
   * @param {number} bound
   */
  below(bound) {
    return uniformInt(this.#generator, 0, bound - 1)
  }

  /** A number from 0 up to, but not including, 1. */
  fraction() {
    return (this.#generator.next() >>> 0) / 2 ** 32
  }
}

/**
 * The numbers below `count`, each once, in random order.
 * @param {number} count
 * @param {Random} random
 */
export function shuffled(count, random) {
  const numbers = Uint32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const other = random.below(i + 1)
    const number = numbers[i]
    numbers[i] = numbers[other]
    numbers[other] = number
  }
  return numbers
}

/**
 * Makes numbers below `count`, of which few are frequent and most are rare, as in YCSB. The method is that of Gray et al.,
 * "Quickly Generating Billion-Record Synthetic Databases".
 * @param {number} count
 * @param {Random} random
 */
export function zipfian(count, random, theta = 0.99) {
  let zeta = 0
  for (let i = 1; i <= count; i++) zeta += 1 / i ** theta
  const zetaOfTwo = 1 + 0.5 ** theta
  const alpha = 1 / (1 - theta)
  const eta = (1 - (2 / count) ** (1 - theta)) / (1 - zetaOfTwo / zeta)

  return () => {
    const fraction = random.fraction()
    const scaled = fraction * zeta
    if (scaled < 1) return 0
    if (scaled < zetaOfTwo) return Math.min(1, count - 1)
    return Math.min(count - 1, Math.floor(count * (eta * fraction - eta + 1) ** alpha))
  }
}
