// and the clock that you were given
import { ttl } from 'terrace-toolbox/ttl'

export default function sessionStore(db) {
  const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: 30 * 60_000 })
  return {
    start: (token, user) => sessions.put(token, user),
    async user(token) {
      await sessions.touch(token, 30 * 60_000)
      return sessions.get(token)
    },
    cleanUp: () => sessions.removeExpired()
  }
}
