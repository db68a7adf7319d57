/** An operation that puts. */
export const put = (key, value = 'v', more) => ({ type: 'put', key, value, ...more })

export const keysOf = (operations) => operations.map(({ key }) => key)

/** Makes a hook note the operations that it sees. */
export function note(db) {
  const seen = []
  db.hooks.prewrite.add((op) => seen.push({ ...op }))
  return seen
}
