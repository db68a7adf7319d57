// reads single entries besides its range
export async function record(db, { place, bird, day }) {
  await db.batch([
    { type: 'put', key: `place!${place}!${day}!${bird}`, value: JSON.stringify({ place, bird }) },
    { type: 'put', key: `bird!${bird}!${day}!${place}`, value: `place!${place}!${day}!${bird}` }
  ])
}

export async function birdsAt(db, place) {
  const values = await db.values({ gte: `place!${place}!`, lt: `place!${place}"` }).all()
  return values.map((value) => JSON.parse(value).bird)
}

export async function placesOf(db, bird) {
  const keys = await db.values({ gte: `bird!${bird}!`, lt: `bird!${bird}"` }).all()
  const values = await db.getMany(keys)
  return values.map((value) => JSON.parse(value).place)
}
