import { createHash } from 'node:crypto'

/**
 * Whole numbers that look random and depend only on a seed.
 *
 * @param {string} seed
 * @returns {(below: number) => number} Returns the next number from 0 up to, but not including, `below`, which is at most 2³².
 */
export function random(seed) {
  let count = 0
  return (below) => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32BE() % below
}
