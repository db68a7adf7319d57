/** Deleting ranges. */

import type { RangeDeletion } from 'terrace-core'
import { boundsOf, isEmpty, keyRangeOf } from './bounds.js'
import { bytesFrom, identityOf } from './bytes.js'
import type { Connection } from './connection.js'
import type { History, View } from './history.js'
import { RangeWalk } from './range-walk.js'
import { committed } from './requests.js'
import type { Writer } from './writer.js'

/** Keys that one transaction deletes, where they are deleted one by one. */
const PAGE_KEYS = 1000

/** Deletes a range in its turn among the writes. */
export function clear(
  writer: Writer,
  connection: Connection,
  history: History,
  range: RangeDeletion,
  view: View | undefined
): Promise<void> {
  const { reverse, limit } = range
  const bounds = boundsOf(range)
  return writer.alone(async () => {
    if (isEmpty(bounds) || limit === 0) return
    if (view === undefined && limit < 0) return clearAll(connection, history, keyRangeOf(bounds))
    const walk = new RangeWalk(connection, { bounds, reverse, hasValues: false, view })
    await clearKeys(writer, walk, limit < 0 ? Infinity : limit)
  })
}

function clearAll(connection: Connection, history: History, range: IDBKeyRange | undefined): Promise<void> {
  return connection.run('readwrite', false, (store) => {
    const layer = history.current()
    return committed(store.transaction, () => {
      if (layer !== undefined) {
        const [keys, values] = [store.getAllKeys(range), store.getAll(range)]
        values.onsuccess = () =>
          keys.result.forEach((key, index) => {
            layer.keep(identityOf(bytesFrom(key)), bytesFrom(values.result[index]))
          })
      }
      if (range === undefined) store.clear()
      else store.delete(range)
    })
  })
}

async function clearKeys(writer: Writer, walk: RangeWalk, limit: number): Promise<void> {
  for (let left = limit; left > 0 && !walk.hasEnded; ) {
    const keys = await nextKeys(walk, Math.min(PAGE_KEYS, left))
    left -= keys.length
    await writer.commitNow(keys.flatMap((key) => [key, null]))
  }
}

/** The next keys, exactly so many unless the walk ends. */
async function nextKeys(walk: RangeWalk, count: number): Promise<Uint8Array<ArrayBuffer>[]> {
  const found: Uint8Array[] = []
  while (found.length < count && !walk.hasEnded) found.push(...(await walk.next(count)).keys)
  return found.slice(0, count) as Uint8Array<ArrayBuffer>[]
}
