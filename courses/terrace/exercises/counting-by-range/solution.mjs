export default async function count(db, place) {
  let birds = 0
  for await (const _ of db.keys({ gte: `${place}!`, lt: `${place}"` })) birds++
  return birds
}
