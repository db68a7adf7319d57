/**
 * The number of sorted items before a position: the first `n` of `length` for which `isBefore(n)` is false. It calls `isBefore`
 * log2 of `length` times.
 */
export function countBefore(length: number, isBefore: (index: number) => boolean): number {
  let low = 0
  let high = length

  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
