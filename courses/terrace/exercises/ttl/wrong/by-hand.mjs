// user() writes the value of the session again
export default function sessionStore(db, now) {
  const sessions = db.sublevel('sessions', { valueEncoding: 'json' })
  const start = (token, user) => sessions.put(token, { user, end: now() + 30 * 60_000 })
  return {
    start,
    async user(token) {
      const { user, end } = (await sessions.get(token)) ?? { end: 0 }
      if (end < now()) return undefined
      await start(token, user)
      return user
    },
    async cleanUp() {
      for await (const [token, { end }] of sessions.iterator()) if (end < now()) await sessions.del(token)
    }
  }
}
