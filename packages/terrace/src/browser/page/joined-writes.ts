/**
 * Writes that come in one message go to the log as one: there each write is a call of the browser, which takes half a millisecond in
 * private windows, and each flush takes as long everywhere.
 */

import { Call, type WireCall } from './calls.js'

/** Larger ones gain nothing. */
const MAX_JOINED_BYTES = 256 << 10

/** LevelDB's batch begins with a sequence number and a count (docs/format/batch.md). */
const COUNT_AT = 8
const HEADER_BYTES = 12

/** How many calls, from `start` on, are writes that go as one. At least 1. */
export function joinable(calls: readonly WireCall[], start: number): number {
  let sizeBytes = 0
  let end = start
  for (; end < calls.length; end++) {
    const [kind, , , , lengthBytes = 0] = calls[end] as WireCall
    sizeBytes += lengthBytes
    if (kind !== Call.write || sizeBytes > MAX_JOINED_BYTES) break
  }
  return Math.max(end - start, 1)
}

/** The batches of writes as one, which is to be flushed if one of them is. `bytes` are those of their message. */
export function joined(
  writes: readonly WireCall[],
  bytes: Uint8Array
): { readonly batch: Uint8Array; readonly sync: boolean } {
  const batches = writes.map(([, , at, , lengthBytes = 0]) => bytes.subarray(at, at + lengthBytes))
  const sizeBytes = batches.reduce((sum, batch) => sum + batch.length - HEADER_BYTES, HEADER_BYTES)
  const batch = new Uint8Array(sizeBytes)
  let count = 0
  let end = HEADER_BYTES
  for (const each of batches) {
    count += viewOf(each).getUint32(COUNT_AT, true)
    batch.set(each.subarray(HEADER_BYTES), end)
    end += each.length - HEADER_BYTES
  }
  viewOf(batch).setUint32(COUNT_AT, count, true)
  return { batch, sync: writes.some(([, , , sync]) => sync === 1) }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
