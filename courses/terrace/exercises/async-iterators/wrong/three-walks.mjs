// One iterator with limit: 3
export default async function newest(db) {
  const entries = []
  let range = {}
  while (entries.length < 3) {
    const [entry] = await db.iterator({ ...range, reverse: true, limit: 1 }).all()
    if (entry === undefined) break
    entries.push(entry)
    range = { lt: entry[0] }
  }
  return entries
}
