// the first moment of the day
export default async function messagesOf(db, day) {
  return db.values({ gt: `${day}T00:00:00.000Z`, lt: `${day}U` }).all()
}
