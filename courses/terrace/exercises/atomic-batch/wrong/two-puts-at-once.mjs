// makes 2 writes
export default async function move(db, from, to, amount) {
  const [has, gets] = await db.getMany([from, to])
  if (has < amount) return false
  await Promise.all([db.put(from, has - amount), db.put(to, gets + amount)])
  return true
}
