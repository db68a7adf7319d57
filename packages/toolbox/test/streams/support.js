// What the tests of streams share.

export const json = { valueEncoding: 'json' }

/** The key of an entry by its number: keys are in the order of the numbers. */
export const key = (index) => String(index).padStart(6, '0')

/** Puts this many entries. Their values are numbers. */
export async function fill(db, count) {
  await db.batch(
    Array.from({ length: count }, (_, index) => ({ type: 'put', key: key(index), value: index }))
  )
}

/** Counts the iterators of the database that are closed from now on. */
export function countClosed(db) {
  let closed = 0
  const { iterator } = db
  db.iterator = (options) => {
    const made = iterator.call(db, options)
    const { close } = made
    made.close = () => {
      closed++
      return close.call(made)
    }
    return made
  }
  return () => closed
}
