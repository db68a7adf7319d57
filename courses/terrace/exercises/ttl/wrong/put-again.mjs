// touch() writes the time alone
import { ttl } from 'terrace-toolbox/ttl'

export default function sessionStore(db, now) {
  const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: 30 * 60_000, now })
  return {
    start: (token, user) => sessions.put(token, user),
    async user(token) {
      const user = await sessions.get(token)
      if (user !== undefined) await sessions.put(token, user)
      return user
    },
    cleanUp: () => sessions.removeExpired()
  }
}
