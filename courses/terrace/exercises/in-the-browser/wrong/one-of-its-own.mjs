// make none of your own
import { MemoryLevel } from 'terrace'

const databases = new Map()

export default async function note(given, bird) {
  const db = databases.get(given) ?? new MemoryLevel({ valueEncoding: 'json' })
  databases.set(given, db)
  await db.put(bird, ((await db.get(bird)) ?? 0) + 1)
  return db.iterator().all()
}
