/** Subscriptions to writes: what is told of each write to a range of keys. */

import { EventCode } from '../protocol/messages.js'
import { contains, type Interval, intersection, isEmpty } from './key-range.js'
import { EVENT_BYTES, type EventSource, type Subscription } from './subscription.js'

/** Keys and values in turns; null where a key was deleted. */
export type Written = ReadonlyArray<Uint8Array | null>

/** Hears of writes in the order in which they took effect. The bytes belong to the listener. */
export interface WriteListener {
  written(operations: Written): void
  cleared(interval: Interval, isPartial: boolean): void
}

/** Tells of the writes to a database, whoever makes them. */
export interface WriteSource {
  /** Begins to tell. Returns how to stop. */
  listen(listener: WriteListener): () => void
}

/** What an operation costs beside its key and value, in bytes. */
const OPERATION_BYTES = 32

/** The writes to the keys of some intervals. */
export function writesWithin(source: WriteSource, intervals: readonly Interval[]): EventSource {
  const begin = (subscription: Subscription): (() => void) =>
    source.listen({
      written(operations) {
        const [bytes, wanted] = within(operations, intervals)
        if (wanted.length > 0) subscription.offer(bytes, EventCode.write, wanted)
      },
      cleared(interval, isPartial) {
        const parts = intervals.map((each) => intersection(each, interval)).filter((each) => !isEmpty(each))
        const bounds = parts.flatMap(({ start, end }) => [start, end])
        if (parts.length > 0) subscription.offer(sizeOf(bounds), EventCode.clear, bounds, isPartial)
      }
    })
  return { subject: 'writes', begin }
}

/** The operations on keys of these intervals, after their size in bytes. */
function within(operations: Written, intervals: readonly Interval[]): [bytes: number, operations: Written] {
  const wanted: Array<Uint8Array | null> = []
  for (let i = 0; i < operations.length; i += 2) {
    const key = operations[i] as Uint8Array
    if (intervals.some((each) => contains(each, key)))
      wanted.push(key, operations[i + 1] as Uint8Array | null)
  }
  return [sizeOf(wanted), wanted]
}

function sizeOf(pieces: Written): number {
  let bytes = EVENT_BYTES + (pieces.length / 2) * OPERATION_BYTES
  for (const piece of pieces) bytes += piece?.length ?? 0
  return bytes
}
