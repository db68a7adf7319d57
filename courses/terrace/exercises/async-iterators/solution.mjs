export default async function newest(db) {
  const entries = []
  for await (const entry of db.iterator({ reverse: true, limit: 3 })) entries.push(entry)
  return entries
}
