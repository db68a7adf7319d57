import { ttl } from 'terrace-toolbox/ttl'

const LIFE_MS = 30 * 60_000

export default function sessionStore(db, now) {
  const sessions = ttl(db.sublevel('sessions'), { defaultTtlMs: LIFE_MS, now })
  return {
    async start(token, user) {
      await sessions.put(token, user)
    },
    async user(token) {
      const user = await sessions.get(token)
      if (user !== undefined) await sessions.touch(token, LIFE_MS)
      return user
    },
    async cleanUp() {
      await sessions.removeExpired()
    }
  }
}
