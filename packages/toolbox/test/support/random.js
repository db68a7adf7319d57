/** Pseudo-random whole numbers below `limit`, the same for the same seed. */
export function randomNumbers(seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
