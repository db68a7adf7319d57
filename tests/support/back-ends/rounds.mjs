// Batches that each write a round's number to the same keys, so that a reader who finds two numbers has found a part of a batch.

/** How many keys each batch of rounds writes. */
export const WIDTH = 20

/** The batch of a round. It also deletes and makes keys: those of even rounds have one more. */
export function roundOf(number, prefix = 'r') {
  const operations = Array.from({ length: WIDTH }, (_, i) => ({
    type: 'put',
    // The keys lie far apart, on different pages.
    key: `${prefix}${String(i).padStart(3, '0')}`,
    value: `${number}`.padEnd(300, '.')
  }))
  const more = { key: `${prefix}more` }
  operations.push(number % 2 === 0 ? { type: 'put', ...more, value: `${number}` } : { type: 'del', ...more })
  return operations
}

/** The number of the round that entries show; undefined if they are parts of several. */
export function roundIn(entries) {
  if (entries.length === 0) return 0
  const number = parseInt(entries[0][1], 10)
  const expected = roundOf(number, entries[0][0].slice(0, 1)).filter(({ type }) => type === 'put')
  const isWhole =
    entries.length === expected.length &&
    entries.every(([key, value], i) => key === expected[i].key && value === expected[i].value)
  return isWhole ? number : undefined
}
