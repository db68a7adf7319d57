/** Pieces of a buffer in which the addon has put many values end to end, and the place of the next one. */
export class Pieces {
  readonly #buffer: Buffer | undefined
  #offset = 0

  /** @param buffer - None if every value is empty, or none is to be a buffer. */
  constructor(buffer: Buffer | undefined) {
    this.#buffer = buffer
  }

  /** The next value, of so many bytes. */
  take(lengthBytes: number): Buffer {
    const start = this.#offset
    this.#offset += lengthBytes
    return (this.#buffer ?? noBytes).subarray(start, this.#offset)
  }
}

const noBytes = Buffer.alloc(0)
