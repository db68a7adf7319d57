// where nothing is to be moved
export default async function move(db, from, to, amount) {
  const [has, gets] = await db.getMany([from, to])
  const moved = has < amount ? 0 : amount
  await db.batch([
    { type: 'put', key: from, value: has - moved },
    { type: 'put', key: to, value: gets + moved }
  ])
  return moved > 0
}
