/** The operations in a LevelDB write batch (docs/format/batch.md), as `storeBatch` stores it. */

import type { Operations } from 'terrace-core'

const HEADER_BYTES = 12
const VALUE = 1
const MAX_SHIFT = 28

/** Returns the operations in a batch. Keys and values are views into it. */
export function operationsOf(batch: Uint8Array): Operations {
  const operations: Array<Uint8Array | null> = []
  let at = HEADER_BYTES
  const byte = (): number => {
    if (at >= batch.length) throw new RangeError('A write batch ends within an operation')
    return batch[at++] as number
  }
  const part = (): Uint8Array => {
    let length = 0
    let last = 0x80
    for (let shift = 0; last >= 0x80 && shift <= MAX_SHIFT; shift += 7) {
      last = byte()
      length |= (last & 0x7f) << shift
    }
    const start = at
    at += length >>> 0
    if (at > batch.length) throw new RangeError('A write batch ends within a key or a value')
    return batch.subarray(start, at)
  }
  while (at < batch.length) {
    const kind = byte()
    operations.push(part(), kind === VALUE ? part() : null)
  }
  return operations
}
