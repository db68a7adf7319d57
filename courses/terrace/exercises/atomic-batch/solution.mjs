export default async function move(db, from, to, amount) {
  const [has, gets] = await db.getMany([from, to])
  if (has < amount) return false
  await db.batch([
    { type: 'put', key: from, value: has - amount },
    { type: 'put', key: to, value: gets + amount }
  ])
  return true
}
