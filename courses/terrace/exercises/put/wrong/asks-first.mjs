// One get is enough
const json = { valueEncoding: 'json' }

export default async function replace(db, bird, sighting) {
  let before
  if (await db.has(bird)) before = await db.get(bird, json)
  await db.put(bird, sighting, json)
  return before
}
