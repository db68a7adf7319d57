export async function record(db, { place, bird, day }) {
  await db.batch([
    { type: 'put', key: `place!${place}!${day}!${bird}`, value: bird },
    { type: 'put', key: `bird!${bird}!${day}!${place}`, value: place }
  ])
}

export const birdsAt = (db, place) => answer(db, `place!${place}`)

export const placesOf = (db, bird) => answer(db, `bird!${bird}`)

function answer(db, start) {
  return db.values({ gte: `${start}!`, lt: `${start}"` }).all()
}
