// it takes 2 writes
export default async function ring(db, name, number) {
  const waiting = db.sublevel('waiting')
  const ringed = db.sublevel('ringed', { valueEncoding: 'json' })
  const species = await waiting.get(name)
  await ringed.put(number, { name, species })
  await waiting.del(name)
}
