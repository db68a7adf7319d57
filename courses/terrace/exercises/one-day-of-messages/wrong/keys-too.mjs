// not their keys
export default async function messagesOf(db, day) {
  return db.iterator({ gte: day, lt: `${day}U` }).all()
}
