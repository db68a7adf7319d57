// What the tests of the feed share.

/** Applies the changes of a feed, from the first, to an empty database. Returns the entries in the order of their keys. */
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
