export default async function messagesOf(db, day) {
  return db.values({ gte: day, lt: `${day}U` }).all()
}
