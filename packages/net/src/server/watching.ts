/** Subscriptions to the writes within a range of keys. */

import { EventCode } from '../protocol/messages.js'
import { SharedBytes } from './budget.js'
import { contains, type Interval, intersection, isEmpty } from './key-range.js'
import { EVENT_BYTES, type EventSource, type Subscription } from './subscription.js'

/** Alternating keys and values; null where a key was deleted. */
export type Written = ReadonlyArray<Uint8Array | null>

/** Receives writes in the order in which they took effect. The listeners share ownership of the bytes. */
export interface WriteListener {
  /** @param shared - Counts the operations that the listeners hold. */
  written(operations: Written, shared: SharedBytes): void
  cleared(interval: Interval, isPartial: boolean): void
}

/** Reports all writes to a database. */
export interface WriteSource {
  /** Begins to report. Returns a function that stops it. */
  listen(listener: WriteListener): () => void
}

/** The cost of a key or a value besides its bytes. */
const PIECE_BYTES = 128

/** The cost of a reference to one from another list. */
const POINTER_BYTES = 16

/** The writes to the keys of some intervals, as events. */
export function writesWithin(source: WriteSource, intervals: readonly Interval[]): EventSource {
  const begin = (subscription: Subscription): (() => void) =>
    source.listen({
      written(operations, shared) {
        const wanted = within(operations, intervals)
        if (wanted.length === 0) return
        // A separate list, unless this subscription gets all operations.
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

/** Counts what all listeners to a write hold of it. */
export function sharedBytesOf(operations: Written): SharedBytes {
  return new SharedBytes(sizeOf(operations))
}

/** Returns the operations on keys of these intervals: the list itself if that is all of them. */
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
