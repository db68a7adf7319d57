// are the first ones
export default async function newest(db) {
  return db.iterator({ limit: 3 }).all()
}
