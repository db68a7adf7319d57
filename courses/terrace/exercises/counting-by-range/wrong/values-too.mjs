// without their values
export default async function count(db, place) {
  const entries = await db.iterator({ gte: `${place}!`, lt: `${place}"` }).all()
  return entries.length
}
