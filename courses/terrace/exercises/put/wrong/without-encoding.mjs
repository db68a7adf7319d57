// has the value [object Object]
export default async function replace(db, bird, sighting) {
  const before = await db.get(bird, { valueEncoding: 'json' })
  await db.put(bird, sighting)
  return before
}
