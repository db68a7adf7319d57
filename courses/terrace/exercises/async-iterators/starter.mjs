export default async function newest(db) {
  const entries = []
  for await (const entry of db.iterator({ limit: 3 })) entries.push(entry)
  return entries
}
