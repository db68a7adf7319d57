// When user() finds a session, its time begins again
import { ttl } from 'terrace-toolbox/ttl'

export default function sessionStore(db, now) {
  const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: 30 * 60_000, now })
  return {
    start: (token, user) => sessions.put(token, user),
    user: (token) => sessions.get(token),
    cleanUp: () => sessions.removeExpired()
  }
}
