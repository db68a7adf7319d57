import { Level } from 'terrace'

export default async function withDatabase(directory, work) {
  const db = new Level(directory)
  return work(db)
}
