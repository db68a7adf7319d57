// is not open yet when your function calls work
import { Level } from 'terrace'

export default async function withDatabase(directory, work) {
  const db = new Level(directory)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
