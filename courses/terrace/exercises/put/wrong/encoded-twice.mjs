// was turned into JSON twice
export default async function replace(db, bird, sighting) {
  const before = await db.get(bird, { valueEncoding: 'json' })
  await db.put(bird, JSON.stringify(sighting), { valueEncoding: 'json' })
  return before
}
