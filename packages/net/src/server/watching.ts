/** Subscriptions to writes: what is told of each write to a range of keys. */

import { EventCode } from '../protocol/messages.js'
import { SharedBytes } from './budget.js'
import { contains, type Interval, intersection, isEmpty } from './key-range.js'
import { EVENT_BYTES, type EventSource, type Subscription } from './subscription.js'

/** Keys and values in turns; null where a key was deleted. */
export type Written = ReadonlyArray<Uint8Array | null>

/** Hears of writes in the order in which they took effect. The bytes belong to the listeners, which have them together. */
export interface WriteListener {
  /** @param shared - What the listeners hold of the operations. */
  written(operations: Written, shared: SharedBytes): void
  cleared(interval: Interval, isPartial: boolean): void
}

/** Tells of the writes to a database, whoever makes them. */
export interface WriteSource {
  /** Begins to tell. Returns how to stop. */
  listen(listener: WriteListener): () => void
}

/** What a key or a value costs besides its bytes. */
const PIECE_BYTES = 128

/** What it costs to name one in another list. */
const POINTER_BYTES = 16

/** The writes to the keys of some intervals. */
export function writesWithin(source: WriteSource, intervals: readonly Interval[]): EventSource {
  const begin = (subscription: Subscription): (() => void) =>
    source.listen({
      written(operations, shared) {
        const wanted = within(operations, intervals)
        if (wanted.length === 0) return
        // All of them in a list of this subscription's own, unless it has them all.
        const listBytes = wanted === operations ? 0 : POINTER_BYTES * wanted.length
        subscription.offer({
          content: [EventCode.write, wanted],
          ownBytes: EVENT_BYTES + listBytes,
          shared,
          sharedBytes: sizeOf(wanted)
        })
      },
      cleared(interval, isPartial) {
        const parts = intervals.map((each) => intersection(each, interval)).filter((each) => !isEmpty(each))
        const bounds = parts.flatMap(({ start, end }) => [start, end])
        if (parts.length === 0) return
        const ownBytes = EVENT_BYTES + sizeOf(bounds)
        subscription.offer({ content: [EventCode.clear, bounds, isPartial], ownBytes })
      }
    })
  return { subject: 'writes', begin }
}

/** What the listeners to a write hold of it together. */
export function sharedBytesOf(operations: Written): SharedBytes {
  return new SharedBytes(sizeOf(operations))
}

/** The operations on keys of these intervals: the list itself if that is all of them. */
function within(operations: Written, intervals: readonly Interval[]): Written {
  const isWanted = (i: number): boolean =>
    intervals.some((each) => contains(each, operations[i] as Uint8Array))
  const wanted: Array<Uint8Array | null> = []
  for (let i = 0; i < operations.length; i += 2) {
    if (isWanted(i)) wanted.push(operations[i] as Uint8Array, operations[i + 1] as Uint8Array | null)
  }
  return wanted.length === operations.length ? operations : wanted
}

function sizeOf(pieces: Written): number {
  let bytes = 0
  for (const piece of pieces) if (piece !== null) bytes += PIECE_BYTES + piece.length
  return bytes
}
