// there are still sessions in the database
import { ttl } from 'terrace-toolbox/ttl'

export default function sessionStore(db, now) {
  const sessions = ttl(db.sublevel('sessions'), {
    defaultTtlMs: 30 * 60_000,
    now,
    checkIntervalMs: Infinity
  })
  return {
    start: (token, user) => sessions.put(token, user),
    async user(token) {
      await sessions.touch(token, 30 * 60_000)
      return sessions.get(token)
    },
    async cleanUp() {}
  }
}
