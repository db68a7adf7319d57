/**
 * Memory that small values are stored into, one after another: a `Buffer` that is a piece of it is made ten times as fast as
 * one of its own. As with Node's own pool, a piece that is kept keeps the whole of it.
 */

/** As large as Node's pool. */
const SLAB_BYTES = 8 * 1024

/** Room for a value of up to so many bytes; larger ones get memory of their own. */
const MAX_PIECE_BYTES = 1024

let memory = Buffer.allocUnsafeSlow(SLAB_BYTES)
let offset = 0

/** Where the addon may store the next value. */
export const slab = {
  /** The memory, with room for a value from the offset on. */
  memory(): Buffer {
    if (offset > SLAB_BYTES - MAX_PIECE_BYTES) {
      memory = Buffer.allocUnsafeSlow(SLAB_BYTES)
      offset = 0
    }

    return memory
  },

  offset(): number {
    return offset
  },

  /** The value of so many bytes that was stored. */
  take(lengthBytes: number): Buffer {
    const start = offset
    offset += lengthBytes
    return memory.subarray(start, offset)
  }
}
