import type { AnyLevel } from '../level-like.js'
import { Batcher } from './batcher.js'
import { ClosingWatch } from './closing.js'
import { Items, type Kind } from './items.js'
import { operationOf } from './operations.js'
import { splitReadableOptions, splitWritableOptions } from './options.js'

/** Makes a web stream of the items of a range. */
export function webReadableOf<Item>(db: AnyLevel, kind: Kind, options: object): ReadableStream<Item> {
  const { highWaterMark, range } = splitReadableOptions(options)
  const items = new Items(db, kind, range)
  let closing: ClosingWatch
  let isEnded = false

  const end = (): Promise<void> => {
    isEnded = true
    closing.stop()
    return items.close()
  }

  return new ReadableStream<Item>(
    {
      start(controller) {
        closing = new ClosingWatch(db, (error) => {
          controller.error(error)
          return end()
        })
      },
      async pull(controller) {
        try {
          const some = await items.next(Math.max(controller.desiredSize ?? 0, 1))
          if (isEnded) return

          for (const item of some) controller.enqueue(item as Item)
          if (some.length > 0) return
          await end()
          controller.close()
        } catch (error) {
          if (isEnded) return
          await end()
          throw error
        }
      },
      cancel: end
    },
    { highWaterMark }
  )
}

/** Makes a web stream that writes entries in batches. */
export function webWritableOf<Entry>(db: AnyLevel, options: object): WritableStream<Entry> {
  const { batchSize, batch } = splitWritableOptions(options)
  let closing: ClosingWatch
  let batcher: Batcher

  const end = (): Promise<void> => {
    closing.stop()
    return batcher.discard()
  }

  return new WritableStream<Entry>(
    {
      start(controller) {
        const fail = (error: unknown): Promise<void> => {
          controller.error(error)
          return end()
        }
        batcher = new Batcher((operations) => db.batch(operations as never, batch), batchSize, fail)
        closing = new ClosingWatch(db, fail)
      },
      async write(entry) {
        try {
          await batcher.add(operationOf(entry))
        } catch (error) {
          await end()
          throw error
        }
      },
      async close() {
        try {
          await batcher.flush()
        } finally {
          closing.stop()
        }
      },
      abort: end
    },
    { highWaterMark: batchSize }
  )
}
