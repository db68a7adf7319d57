// not in the order of the days
export async function record(db, { place, bird, day }) {
  await db.batch([
    { type: 'put', key: `place!${place}!${bird}!${day}`, value: bird },
    { type: 'put', key: `bird!${bird}!${place}!${day}`, value: place }
  ])
}

export const birdsAt = (db, place) => db.values({ gte: `place!${place}!`, lt: `place!${place}"` }).all()

export const placesOf = (db, bird) => db.values({ gte: `bird!${bird}!`, lt: `bird!${bird}"` }).all()
