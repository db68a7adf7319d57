// names that do not belong there
export async function record(db, { place, bird, day }) {
  await db.batch([
    { type: 'put', key: `${place}!${day}!${bird}`, value: bird },
    { type: 'put', key: `${bird}!${day}!${place}`, value: place }
  ])
}

export const birdsAt = (db, place) => db.values({ gte: `${place}!`, lt: `${place}"` }).all()

export const placesOf = birdsAt
