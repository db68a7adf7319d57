import { Buffer } from '../buffer.js'

/** Reads values from a buffer in which a back-end has placed them end to end. */
export class PackedBuffer {
  readonly #buffer: Uint8Array | undefined
  #offset = 0

  /** @param buffer - The buffer; undefined if every value is empty, or no value was requested as a buffer. */
  constructor(buffer: Uint8Array | undefined) {
    this.#buffer = buffer
  }

  /** Returns the next value, which has the given length. */
  take(lengthBytes: number): Uint8Array {
    const start = this.#offset
    this.#offset += lengthBytes
    return (this.#buffer ?? noBytes).subarray(start, this.#offset)
  }
}

const noBytes = Buffer.alloc(0)
