// your function reads
export default async function messagesOf(db, day) {
  const messages = []
  for await (const [key, message] of db.iterator({ gte: day })) {
    if (!key.startsWith(day)) break
    messages.push(message)
  }
  return messages
}
