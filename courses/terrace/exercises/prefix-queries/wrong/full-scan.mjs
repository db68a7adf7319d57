// your function reads
export async function record(db, { place, bird, day }) {
  await db.put(`place!${place}!${day}!${bird}`, bird)
}

export const birdsAt = (db, place) => db.values({ gte: `place!${place}!`, lt: `place!${place}"` }).all()

export async function placesOf(db, bird) {
  const keys = await db.keys().all()
  const sightings = keys.map((key) => key.split('!')).filter((parts) => parts[3] === bird)
  sightings.sort((one, other) => (one[2] < other[2] ? -1 : 1))
  return sightings.map((parts) => parts[1])
}
