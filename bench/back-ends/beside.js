// What a database costs beside the library under it, with calls of the same meaning.

/** Entries of 100 bytes whose keys are in order, the puts that write them, and a key for the `i`th call, each some way from the last. */
export function entriesFor(count) {
  const value = Buffer.alloc(100, 1)
  const keys = Array.from({ length: count }, (_, i) => Buffer.from(String(i).padStart(16, '0')))
  const operations = keys.map((key) => ({ type: 'put', key, value }))
  // A range of 20 begins at any of them.
  const keyAt = (i) => keys[(i * 7) % (count - 20)]
  return { value, keys, operations, keyAt }
}

/** Work that is done and awaited `count` times. */
export const times = (count, work) => ({
  count,
  run: async () => {
    for (let i = 0; i < count; i++) await work(i)
  }
})

/** Work that is done `count` times without waiting. */
export const timesSync = (count, work) => ({
  count,
  run: () => {
    for (let i = 0; i < count; i++) work(i)
  }
})

async function microseconds({ count, run }) {
  const start = process.hrtime.bigint()
  await run()
  return Number(process.hrtime.bigint() - start) / 1000 / count
}

/**
 * Measures cases and prints a table of microseconds an operation, each the least of the rounds, which take turns.
 *
 * @param {Record<string, { level: Work, raw: Work }>} cases - What the database does, and the library itself.
 * @param {object} options
 * @param {number} options.rounds
 * @param {[string, string]} options.names - Of the database and of the library.
 * @typedef {{ count: number, run: () => unknown }} Work
 */
export async function compare(cases, { rounds, names }) {
  const least = {}
  for (let round = 0; round < rounds; round++) {
    for (const [name, sides] of Object.entries(cases)) {
      for (const side of ['level', 'raw']) {
        const found = await microseconds(sides[side])
        least[`${name} ${side}`] = Math.min(found, least[`${name} ${side}`] ?? Infinity)
      }
    }
  }

  console.log(`| µs | ${names.join(' | ')} | ratio |\n|---|---:|---:|---:|`)
  for (const name of Object.keys(cases)) {
    const [level, raw] = [least[`${name} level`], least[`${name} raw`]]
    console.log(`| ${name} | ${level.toFixed(2)} | ${raw.toFixed(2)} | ${(level / raw).toFixed(2)} |`)
  }
}
