// is still locked after work has thrown
import { Level } from 'terrace'

export default async function withDatabase(directory, work) {
  const db = new Level(directory)
  await db.open()
  const returned = await work(db)
  await db.close()
  return returned
}
