import { takeLock } from './lock.js'
import { deleteDatabase, type Place } from './open-database.js'

/**
 * Deletes a database, or does nothing if it does not exist. Waits until connections of other programs, such as browser-level, are closed.
 *
 * @throws LEVEL_LOCKED if the database is open.
 */
export async function destroyPlace({ name }: Place): Promise<void> {
  const release = await takeLock(name, true)
  try {
    await deleteDatabase(name)
  } finally {
    await release()
  }
}
