// Only limit tells
export default async function newest(db) {
  const entries = []
  for await (const entry of db.iterator({ reverse: true })) {
    entries.push(entry)
    if (entries.length === 3) break
  }
  return entries
}
