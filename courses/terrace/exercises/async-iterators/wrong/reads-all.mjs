// reads all entries
export default async function newest(db) {
  const entries = await db.iterator().all()
  return entries.reverse().slice(0, 3)
}
