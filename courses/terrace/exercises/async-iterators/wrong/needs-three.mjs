// fewer than three
export default async function newest(db) {
  const iterator = db.iterator({ reverse: true, limit: 3 })
  const entries = [await iterator.next(), await iterator.next(), await iterator.next()]
  await iterator.close()
  return entries
}
