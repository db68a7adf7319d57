// What the tests of the feed share.

/** All that an async iterable gives. */
export async function all(iterable) {
  const found = []
  for await (const item of iterable) found.push(item)
  return found
}

/** What the changes of a feed, from the first, make of an empty database: entries in the order of their keys. */
export async function replayed(changes) {
  const entries = new Map()
  let last = 0

  for await (const { sequence, type, key, value } of changes.read({ after: 0 })) {
    if (!(sequence > last)) throw new Error(`change ${sequence} comes after ${last}`)
    last = sequence
    if (type === 'put') entries.set(key, value)
    else entries.delete(key)
  }
  return [...entries].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** The next item of an iterator. */
export async function next(iterator) {
  const { done, value } = await iterator.next()
  return done ? undefined : value
}

/** Lets timers and writes that are due go on. */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Pseudo-random numbers below `limit`, the same each time. */
export function randomNumbers(seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
