// returns the sighting that it has just stored
const json = { valueEncoding: 'json' }

export default async function replace(db, bird, sighting) {
  await db.put(bird, sighting, json)
  return db.get(bird, json)
}
