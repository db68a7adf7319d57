// write one batch
export async function record(db, { place, bird, day }) {
  await db.put(`place!${place}!${day}!${bird}`, bird)
  await db.put(`bird!${bird}!${day}!${place}`, place)
}

export const birdsAt = (db, place) => db.values({ gte: `place!${place}!`, lt: `place!${place}"` }).all()

export const placesOf = (db, bird) => db.values({ gte: `bird!${bird}!`, lt: `bird!${bird}"` }).all()
