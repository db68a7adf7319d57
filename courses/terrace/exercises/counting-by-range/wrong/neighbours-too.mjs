// A place whose name only begins with
export default async function count(db, place) {
  const keys = await db.keys({ gte: place, lt: `${place}~` }).all()
  return keys.length
}
