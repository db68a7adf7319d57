// does not wait until the database is closed
import { Level } from 'terrace'

export default async function withDatabase(directory, work) {
  const db = new Level(directory)
  await db.open()
  try {
    return await work(db)
  } finally {
    db.close()
  }
}
