// the last second of the day
export default async function messagesOf(db, day) {
  return db.values({ gte: `${day}T00:00:00`, lte: `${day}T23:59:59` }).all()
}
