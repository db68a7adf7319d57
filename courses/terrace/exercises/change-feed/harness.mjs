// Calls the follower three times, as a program that is started three times would: the first time it is interrupted.

import { join } from 'node:path'
import { Level } from 'terrace'
import { feed } from 'terrace-toolbox/feed'
import { ObservedLevel, outcome } from '../../support/observed-database.mjs'

/**
 * @param {(changes: object, db: ObservedLevel) => unknown} follow
 * @param {{ before: object[][], after: object[][], cut: number }} data - Batches of the source before the first call and before the last, and
 *   how many changes the first call gets before it is interrupted.
 */
export default async function harness(follow, { before, after, cut }, { directory }) {
  const source = new Level(join(directory, 'source'))
  const changes = feed(source)
  const write = async (batches) => {
    for (const batch of batches) await source.batch(batch)
  }
  const start = (limit) => followOnce(follow, changes, join(directory, 'copy'), limit)

  await write(before)
  const interrupted = await start(cut)
  const again = await start()
  await write(after)
  const later = await start()
  await source.close()
  return { interrupted, again, later }
}

/** Opens the copy, has it followed, and closes it. Tells what the copy holds and how many changes were read. */
async function followOnce(follow, changes, location, limit = Number.POSITIVE_INFINITY) {
  const db = new ObservedLevel(location)
  await db.open()
  const interruption = new Error('The program ends here.')
  let delivered = 0
  const limited = {
    async *read(options) {
      for await (const change of changes.read(options)) {
        if (delivered === limit) throw interruption
        delivered++
        yield change
      }
    }
  }
  try {
    await follow(limited, db)
  } catch (error) {
    if (error !== interruption) throw error
  }
  return { ...(await outcome(db)), delivered }
}
