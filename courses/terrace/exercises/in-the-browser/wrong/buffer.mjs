// does not have: Buffer
export default async function note(db, bird) {
  const birds = db.sublevel('birds', { valueEncoding: 'buffer' })
  const seen = JSON.parse(((await birds.get(bird)) ?? '0').toString())
  await birds.put(bird, Buffer.from(JSON.stringify(seen + 1)))
  const entries = await birds.iterator().all()
  return entries.map(([key, value]) => [key, JSON.parse(value.toString())])
}
