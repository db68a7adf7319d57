// returns text
export default async function replace(db, bird, sighting) {
  const before = await db.get(bird)
  await db.put(bird, sighting, { valueEncoding: 'json' })
  return before
}
