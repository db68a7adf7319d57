import { ttl } from 'terrace-toolbox/ttl'

export default function sessionStore(db, now) {
  const sessions = db.sublevel('sessions')
  return {
    async start(token, user) {
      await sessions.put(token, user)
    },
    async user(token) {
      return sessions.get(token)
    },
    async cleanUp() {}
  }
}
