// belongs to the next day
export default async function messagesOf(db, day) {
  const next = new Date(`${day}T00:00:00Z`)
  next.setUTCDate(next.getUTCDate() + 1)
  return db.values({ gte: `${day}T00:00:00.000Z`, lte: next.toISOString() }).all()
}
