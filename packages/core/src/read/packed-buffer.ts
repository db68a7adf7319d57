import { Buffer } from '../buffer.js'

/** A buffer in which a back-end has put many values end to end, and the offset of the next one. */
export class PackedBuffer {
  readonly #buffer: Uint8Array | undefined
  #offset = 0

  /** @param buffer - Undefined if every value is empty, or no value is to be a buffer. */
  constructor(buffer: Uint8Array | undefined) {
    this.#buffer = buffer
  }

  /** Returns the next value, which has this length. */
  take(lengthBytes: number): Uint8Array {
    const start = this.#offset
    this.#offset += lengthBytes
    return (this.#buffer ?? noBytes).subarray(start, this.#offset)
  }
}

const noBytes = Buffer.alloc(0)
