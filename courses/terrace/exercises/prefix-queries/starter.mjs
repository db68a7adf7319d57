export async function record(db, { place, bird, day }) {
  await db.put(`place!${place}!${day}!${bird}`, bird)
}

export async function birdsAt(db, place) {
  return db.values({ gte: `place!${place}!`, lt: `place!${place}"` }).all()
}

export async function placesOf(db, bird) {
  return []
}
