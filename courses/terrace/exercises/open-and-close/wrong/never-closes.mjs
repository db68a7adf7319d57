// is still locked after your function has returned
import { Level } from 'terrace'

export default async function withDatabase(directory, work) {
  const db = new Level(directory)
  await db.open()
  return work(db)
}
