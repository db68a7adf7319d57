// does not return what work returned
import { Level } from 'terrace'

export default async function withDatabase(directory, work) {
  const db = new Level(directory)
  await db.open()
  try {
    await work(db)
  } finally {
    await db.close()
  }
}
