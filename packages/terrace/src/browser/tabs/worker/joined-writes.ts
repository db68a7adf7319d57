/** Writes that come in one message are done as one. */

import { joinBatches, MAX_JOINED_BYTES } from '../../opfs/joined-batches.js'
import { Call, type WireCall } from '../channel/calls.js'

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
  return { batch: joinBatches(batches), sync: writes.some(([, , , sync]) => sync === 1) }
}
