// your function reads
export default async function count(db, place) {
  const keys = await db.keys().all()
  return keys.filter((key) => key.startsWith(`${place}!`)).length
}
