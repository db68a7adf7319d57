export default async function move(db, from, to, amount) {
  const [has, gets] = await db.getMany([from, to])
  return has >= amount
}
