// leaves an iterator open
export default async function newest(db) {
  const iterator = db.iterator({ reverse: true, limit: 3 })
  const entries = []
  let entry = await iterator.next()
  while (entry !== undefined) {
    entries.push(entry)
    entry = await iterator.next()
  }
  return entries
}
