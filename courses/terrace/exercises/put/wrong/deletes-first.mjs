// One put is enough
const json = { valueEncoding: 'json' }

export default async function replace(db, bird, sighting) {
  const before = await db.get(bird, json)
  await db.del(bird)
  await db.put(bird, sighting, json)
  return before
}
