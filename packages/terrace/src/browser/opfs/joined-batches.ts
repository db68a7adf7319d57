/**
 * Small writes of one turn go to the log as one: there each write is a call of the browser, which takes half a millisecond in private windows,
 * and each flush takes as long everywhere.
 */

/** Larger ones gain nothing. */
export const MAX_JOINED_BYTES = 256 << 10

/** LevelDB's batch begins with a sequence number and a count (docs/format/batch.md). */
const COUNT_AT = 8
const HEADER_BYTES = 12

/** Batches, in their order, as one. */
export function joinBatches(batches: readonly Uint8Array[]): Uint8Array {
  if (batches.length === 1) return batches[0] as Uint8Array
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
  return batch
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
