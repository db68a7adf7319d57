import { Buffer } from '../buffer.js'
import { bytesOf } from '../encoded.js'
import { codedError } from '../errors.js'

/** The source of a dump: a Node stream, a web stream, an array of pieces, or any other iterable of bytes. */
export type DumpSource =
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>
  | ReadableStream<Uint8Array>
  | NodeJS.ReadableStream

/** Reads bytes of a source in amounts that the caller chooses. It takes memory only for bytes that did arrive. */
export class ByteSource {
  readonly #pieces: AsyncIterator<unknown> | Iterator<unknown>
  #piece: Buffer = Buffer.alloc(0)
  #offset = 0

  constructor(source: DumpSource) {
    const pieces = iteratorOf(source)
    if (pieces === undefined) {
      throw codedError(
        'DUMP_INVALID_SOURCE',
        'The source of a dump must be a stream, or an iterable of pieces of bytes'
      )
    }
    this.#pieces = pieces
  }

  /** How many bytes have been taken. */
  get offset(): number {
    return this.#offset
  }

  /** Takes the next bytes. There are fewer than `size` only at the end. */
  async take(size: number): Promise<Buffer> {
    const taken: Buffer[] = []
    let missing = size

    while (missing > 0 && (await this.#fill())) {
      const some = this.#piece.subarray(0, missing)
      this.#piece = this.#piece.subarray(some.length)
      missing -= some.length
      taken.push(some)
    }

    this.#offset += size - missing
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken)
  }

  /** Releases the source, if it was not read to its end. */
  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  /** Makes sure that a piece is present. Returns false at the end. */
  async #fill(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const { done, value } = await this.#pieces.next()
      if (done) return false
      if (!(value instanceof Uint8Array)) {
        throw codedError(
          'DUMP_INVALID_SOURCE',
          'The source of a dump must give bytes: it gave something else'
        )
      }
      this.#piece = bytesOf(value)
    }
    return true
  }
}

function iteratorOf(source: unknown): AsyncIterator<unknown> | Iterator<unknown> | undefined {
  const { [Symbol.asyncIterator]: asynchronous, [Symbol.iterator]: synchronous } = (source ?? {}) as Partial<
    AsyncIterable<unknown> & Iterable<unknown>
  >

  if (typeof asynchronous === 'function') return asynchronous.call(source as AsyncIterable<unknown>)
  return typeof synchronous === 'function' ? synchronous.call(source as Iterable<unknown>) : undefined
}
