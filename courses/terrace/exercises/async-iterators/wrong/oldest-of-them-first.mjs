// in the wrong order
export default async function newest(db) {
  const entries = await db.iterator({ reverse: true, limit: 3 }).all()
  return entries.reverse()
}
