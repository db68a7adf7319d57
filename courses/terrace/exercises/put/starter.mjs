export default async function replace(db, bird, sighting) {
  await db.put(bird, sighting)
}
