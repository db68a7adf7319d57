// your function reads
export default async function messagesOf(db, day) {
  const messages = []
  for await (const [key, message] of db.iterator()) {
    if (key.startsWith(day)) messages.push(message)
  }
  return messages
}
