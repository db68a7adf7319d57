/**
 * Frames, which carry messages. A small message is one frame. A large one is cut into parts, and frames of other messages may come
 * between them.
 *
 * ```text
 *   length u32 LE | kind u8 | bytes                      kind 0: a whole message
 *   length u32 LE | kind u8 | number u32 LE | bytes      kind 1: a part of message `number`; kind 2: its last part
 * ```
 *
 * The length counts the bytes after it. Each part but the last has at least PART_BYTES, so that a peer cannot make the other keep
 * a great many tiny ones. A message is an array in MessagePack.
 */

import { Packr, RESERVE_START_SPACE } from 'msgpackr'
import { concat } from './bytes.js'
import { protocolError } from './errors.js'
import { FRAME_HEADER_BYTES, PART_BYTES, PART_HEADER_BYTES } from './limits.js'
import { checkShape } from './shape.js'

/** A message: its kind, then its parts. */
export type Message = readonly [kind: number, ...parts: unknown[]]

export const WHOLE = 0
const PART = 1
const LAST_PART = 2

const LENGTH_BYTES = 4

/** The memory that each part of a message takes besides its bytes once it is an object. */
const ITEM_BYTES = 128

/** Smaller chunks are joined as they arrive. */
const SMALL_CHUNK_BYTES = 16 * 1024

const packr = new Packr({
  useRecords: false,
  structuredClone: false,
  encodeUndefinedAsNil: true,
  // Unpacked bytes are views of the chunk they arrived in. To keep them, copy them.
  copyBuffers: false,
  largeBigIntToFloat: false
})

/** Packs a message as one frame of kind 0, regardless of its size. */
export function packFrame(message: Message): Uint8Array {
  const frame = packr.pack(message, RESERVE_START_SPACE | FRAME_HEADER_BYTES)
  writeHeader(frame, frame.length, WHOLE)
  return frame
}

/** Cuts a large message into frames of parts. The number distinguishes its parts from those of other messages. */
export class Parts {
  readonly #payload: Uint8Array
  readonly #number: number
  #offset = 0

  /** @param frame - A result of {@link packFrame}. */
  constructor(frame: Uint8Array, number: number) {
    this.#payload = frame.subarray(FRAME_HEADER_BYTES)
    this.#number = number
  }

  /** The length of the uncut frame. */
  get length(): number {
    return FRAME_HEADER_BYTES + this.#payload.length
  }

  get isDone(): boolean {
    return this.#offset === this.#payload.length
  }

  /** The next frame. */
  next(): Uint8Array {
    const end = Math.min(this.#offset + PART_BYTES, this.#payload.length)
    const frame = new Uint8Array(FRAME_HEADER_BYTES + PART_HEADER_BYTES + end - this.#offset)
    writeHeader(frame, frame.length, end === this.#payload.length ? LAST_PART : PART)
    writeU32(frame, FRAME_HEADER_BYTES, this.#number)
    frame.set(this.#payload.subarray(this.#offset, end), FRAME_HEADER_BYTES + PART_HEADER_BYTES)
    this.#offset = end
    return frame
  }
}

/** Finds messages in a stream of bytes, which arrives in pieces of any size. */
export class FrameReader {
  /** The largest message, and the limit for all unfinished messages together. */
  maxMessageBytes: number
  /** The most values in a message; undefined for a trusted peer, whose messages are not checked. */
  readonly #maxItems: number | undefined
  /** How much memory the last message takes. */
  messageBytes = 0
  /** Chunks that have arrived and are not read yet. */
  #chunks: Uint8Array[] = []
  #availableBytes = 0
  /** How much of the first chunk was read. */
  #offset = 0
  /** Parts that have arrived, by the numbers of their messages. */
  readonly #unfinished = new Map<number, Uint8Array[]>()
  #unfinishedBytes = 0

  /** @param maxItems - The most values in a message; undefined for a trusted peer. */
  constructor(maxMessageBytes: number, maxItems?: number) {
    this.maxMessageBytes = maxMessageBytes
    this.#maxItems = maxItems
  }

  /** How many bytes have arrived and were not taken yet. */
  get heldBytes(): number {
    return this.#availableBytes + this.#unfinishedBytes
  }

  /** Adds bytes that have arrived. The reader owns them from now on. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#availableBytes += chunk.length
    this.#chunks.push(chunk)
    if (chunk.length < SMALL_CHUNK_BYTES) this.#joinSmall()
  }

  /**
   * Takes the next message, or returns undefined if it has not arrived completely.
   *
   * @throws NET_PROTOCOL if the bytes are not a frame, or too large.
   */
  next(): Message | undefined {
    for (;;) {
      if (this.#availableBytes < LENGTH_BYTES) return undefined
      this.#gather(LENGTH_BYTES)
      const length = readU32(this.#chunks[0] as Uint8Array, this.#offset)
      if (length === 0 || length > this.maxMessageBytes + FRAME_HEADER_BYTES) {
        throw protocolError(`A frame of ${length} bytes came; the limit is ${this.maxMessageBytes} bytes`)
      }

      if (this.#availableBytes < LENGTH_BYTES + length) return undefined
      this.#gather(LENGTH_BYTES + length)
      const chunk = this.#chunks[0] as Uint8Array
      const start = this.#offset + LENGTH_BYTES
      const end = start + length
      this.#skip(LENGTH_BYTES + length)

      if (chunk[start] === WHOLE) return this.#unpacked(chunk, start + 1, end)
      const payload = this.#joined(chunk.subarray(start, end))
      if (payload !== undefined) return this.#unpacked(payload, 0, payload.length)
    }
  }

  /**
   * Joins a chunk to the previous one unless that is far larger. If a peer sends single bytes, this avoids both an object for each
   * byte and a copy of everything for each.
   */
  #joinSmall(): void {
    const chunks = this.#chunks
    while (chunks.length > 2) {
      const [before, last] = chunks.slice(-2) as [Uint8Array, Uint8Array]
      if (before.length > 2 * last.length) return
      chunks.splice(-2, 2, concat([before, last]))
    }
  }

  /** Unpacks a message in place, which avoids an object for its bytes. */
  #unpacked(bytes: Uint8Array, start: number, end: number): Message {
    this.messageBytes = end - start
    if (start === end) throw protocolError('A message is empty')
    if (this.#maxItems !== undefined) {
      this.messageBytes += ITEM_BYTES * checkShape(bytes, this.#maxItems, start, end)
    }
    return unpacked(bytes, start, end)
  }

  /** Adds a part. Returns the whole payload after the last one. */
  #joined(frame: Uint8Array): Uint8Array | undefined {
    const kind = frame[0]
    if ((kind !== PART && kind !== LAST_PART) || frame.length <= 1 + PART_HEADER_BYTES) {
      throw protocolError('A frame of unknown kind came')
    }

    const number = readU32(frame, 1)
    const bytes = frame.subarray(1 + PART_HEADER_BYTES)
    if (kind === PART && bytes.length < PART_BYTES) throw protocolError('A part of a message is too small')
    this.#unfinishedBytes += bytes.length
    if (this.#unfinishedBytes > this.maxMessageBytes) {
      throw protocolError(`Messages in parts exceed the limit of ${this.maxMessageBytes} bytes`)
    }

    const parts = this.#unfinished.get(number) ?? []
    // The chunk that brought a part holds little else, so the part may stay in it.
    parts.push(bytes)
    if (kind === PART) {
      this.#unfinished.set(number, parts)
      return undefined
    }

    this.#unfinished.delete(number)
    const payload = concat(parts)
    this.#unfinishedBytes -= payload.length
    return payload
  }

  /** Ensures that the first chunk has at least this many unread bytes. */
  #gather(length: number): void {
    const first = this.#chunks[0] as Uint8Array
    if (first.length - this.#offset >= length) return
    const rest = [first.subarray(this.#offset), ...this.#chunks.slice(1)]
    this.#chunks = [concat(rest)]
    this.#offset = 0
  }

  #skip(length: number): void {
    this.#offset += length
    this.#availableBytes -= length
    if (this.#offset < (this.#chunks[0] as Uint8Array).length) return
    this.#chunks.shift()
    this.#offset = 0
  }
}

function unpacked(bytes: Uint8Array, start: number, end: number): Message {
  let message: unknown
  try {
    message = packr.unpack(bytes, { start, end })
  } catch (cause) {
    throw Object.assign(protocolError('A message is not valid MessagePack'), { cause })
  }

  if (!Array.isArray(message) || !Number.isInteger(message[0])) {
    throw protocolError('A message is not an array that begins with a number')
  }
  return message as unknown as Message
}

/** Writes the header of a frame with this total length. */
export function writeHeader(frame: Uint8Array, frameLength: number, kind: number): void {
  writeU32(frame, 0, frameLength - LENGTH_BYTES)
  frame[LENGTH_BYTES] = kind
}

function writeU32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value
  bytes[offset + 1] = value >>> 8
  bytes[offset + 2] = value >>> 16
  bytes[offset + 3] = value >>> 24
}

function readU32(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset] as number) |
      ((bytes[offset + 1] as number) << 8) |
      ((bytes[offset + 2] as number) << 16) |
      ((bytes[offset + 3] as number) << 24)) >>>
    0
  )
}
