import { Buffer } from '../buffer.js'

/** A buffer in which a back-end has put many values end to end, and the offset of the next one. */
export class PackedBuffer {
  readonly #buffer: Uint8Array
  /** The memory of the buffer, if pieces of it are made with {@link Piece}. */
  readonly #memory: ArrayBufferLike | undefined
  #offset = 0
  /** Where the buffer begins in its memory. */
  readonly #start: number
  readonly #length: number

  /** @param buffer - Undefined if every value is empty, or no value is to be a buffer. */
  constructor(buffer: Uint8Array | undefined) {
    this.#buffer = buffer ?? noBytes
    const isOwn = Object.getPrototypeOf(this.#buffer) === Buffer.prototype
    this.#memory = isOwn && Piece !== undefined ? this.#buffer.buffer : undefined
    this.#start = this.#buffer.byteOffset
    this.#length = this.#buffer.length
  }

  /** Returns the next value, which has this length. */
  take(lengthBytes: number): Uint8Array {
    const offset = this.#offset
    const end = offset + lengthBytes
    this.#offset = end
    // A length that another machine has sent must not reach beyond the buffer.
    const isWithin = lengthBytes >= 0 && end <= this.#length
    return isWithin && this.#memory !== undefined && Piece !== undefined
      ? new Piece(this.#memory, this.#start + offset, lengthBytes)
      : this.#buffer.subarray(offset, end)
  }
}

const noBytes = Buffer.alloc(0)

type PieceOf = new (memory: ArrayBufferLike, offset: number, length: number) => Uint8Array

/** The class with which the engine itself makes buffers over memory. `subarray` ends up there, and takes four times as long. */
const Piece: PieceOf | undefined = pieceClass()

function pieceClass(): PieceOf | undefined {
  const species = (Buffer as unknown as Record<symbol, unknown>)[Symbol.species]
  if (typeof species !== 'function' || species === Buffer) return undefined
  const piece = new (species as PieceOf)(new ArrayBuffer(2), 1, 1)
  return Object.getPrototypeOf(piece) === Buffer.prototype && piece.byteOffset === 1
    ? (species as PieceOf)
    : undefined
}
