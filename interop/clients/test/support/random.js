import { createHash } from 'node:crypto'

/**
 * Whole numbers that look random and follow from a seed alone.
 *
 * @param {string} seed
 * @returns {(below: number) => number} Gives the next number from 0 to before `below`, which is at most 2³².
 */
export function random(seed) {
  let count = 0
  return (below) => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32BE() % below
}
