// The entries of the database. Values follow from keys, so that every read can be checked.

const VALUE_BYTES = 100

export const keyOf = (i) => String(i).padStart(12, '0')

export const valueFor = (key) => key.padEnd(VALUE_BYTES, key)

export function check(key, value) {
  if (value !== valueFor(key)) throw new Error(`the value of ${key} is ${value}`)
}

/** Writes this many entries. */
export async function fill(db, count) {
  for (let start = 0; start < count; start += 10_000) {
    const size = Math.min(10_000, count - start)
    await db.batch(Array.from({ length: size }, (_, i) => put(keyOf(start + i))))
  }
}

export const put = (key) => ({ type: 'put', key, value: valueFor(key) })

/** Random integers below a bound, the same ones in each run. */
export function randoms(seed) {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
