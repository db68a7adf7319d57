// without a snapshot that is luck
export default async function report(db, print) {
  const total = await db.get('total')
  const places = await db.iterator({ gte: 'place!', lt: 'place"' }).all()
  await print(`total ${total}`)
  for (const [key, count] of places) await print(`${key.slice('place!'.length)} ${count}`)
}
