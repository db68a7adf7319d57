export default async function messagesOf(db, day) {
  return db.values({ gte: day, lte: day }).all()
}
