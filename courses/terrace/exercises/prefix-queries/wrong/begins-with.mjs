// Other names may begin with
export async function record(db, { place, bird, day }) {
  await db.batch([
    { type: 'put', key: `place!${place}!${day}!${bird}`, value: bird },
    { type: 'put', key: `bird!${bird}!${day}!${place}`, value: place }
  ])
}

export const birdsAt = (db, place) => db.values({ gte: `place!${place}`, lt: `place!${place}~` }).all()

export const placesOf = (db, bird) => db.values({ gte: `bird!${bird}`, lt: `bird!${bird}~` }).all()
