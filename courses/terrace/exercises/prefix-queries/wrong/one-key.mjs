// Names are missing in what placesOf
export async function record(db, { place, bird, day }) {
  await db.put(`place!${place}!${day}!${bird}`, bird)
}

export const birdsAt = (db, place) => db.values({ gte: `place!${place}!`, lt: `place!${place}"` }).all()

export const placesOf = (db, bird) => db.values({ gte: `bird!${bird}!`, lt: `bird!${bird}"` }).all()
