/**
 * The stored form of a change.
 *
 * ```text
 * kind      1 byte    1 = del, 2 = has its value, 4 = the old value was requested, 8 = there was one
 * distance  varint    how many changes of the same batch precede it
 * time      6 bytes   milliseconds since 1970, big-endian
 * offset    6 bytes   the bytes of all changes before it, big-endian; only differences matter
 * key       varint length, bytes
 * old value varint length, bytes; if there was one
 * value     the rest, if it has its value
 * ```
 */

import { Buffer } from '../buffer.js'
import { feedError } from './errors.js'

/** A change as it is stored. */
export interface StoredChange {
  sequence: number
  /** The sequence number of the first change of the same batch. */
  batch: number
  type: 'put' | 'del'
  /** When the hook ran, in milliseconds since 1970, by the machine's clock. */
  time: number
  /** The bytes of all earlier changes. */
  offset: number
  key: Buffer
  value?: Buffer
  /** Null if there was no value; undefined if the feed keeps no old values. */
  oldValue?: Buffer | null
}

const DEL = 1
const HAS_VALUE = 2
const ASKED_FOR_OLD = 4
const HAD_OLD = 8

const LARGEST_VARINT = 5

/** Encodes a change. Its sequence number is not included, because it is the key. */
export function encodeChange(change: StoredChange): Buffer {
  const { key, value, oldValue } = change
  const size = 1 + 3 * LARGEST_VARINT + 12 + key.length + (value?.length ?? 0) + (oldValue?.length ?? 0)
  const bytes = Buffer.allocUnsafe(size)

  bytes[0] =
    (change.type === 'del' ? DEL : 0) |
    (value !== undefined ? HAS_VALUE : 0) |
    (oldValue !== undefined ? ASKED_FOR_OLD : 0) |
    (oldValue != null ? HAD_OLD : 0)

  let at = writeVarint(bytes, 1, change.sequence - change.batch)
  at = bytes.writeUIntBE(Math.max(0, change.time), at, 6)
  at = bytes.writeUIntBE(change.offset, at, 6)
  at = writeBytes(bytes, at, key)
  if (oldValue != null) at = writeBytes(bytes, at, oldValue)
  if (value !== undefined) at += value.copy(bytes, at)
  return bytes.subarray(0, at)
}

/**
 * Decodes a change. Its key and values share the memory of `bytes`.
 *
 * @throws FEED_DAMAGED if the bytes are not a change.
 */
export function decodeChange(sequence: number, bytes: Buffer): StoredChange {
  const reader = new Reader(sequence, bytes)
  const kind = reader.uint(1)
  const batch = sequence - reader.varint()
  const time = reader.uint(6)
  const offset = reader.uint(6)
  const change: StoredChange = {
    sequence,
    batch,
    type: kind & DEL ? 'del' : 'put',
    time,
    offset,
    key: reader.bytes(reader.varint())
  }

  if (kind & ASKED_FOR_OLD) change.oldValue = kind & HAD_OLD ? reader.bytes(reader.varint()) : null
  if (kind & HAS_VALUE) change.value = reader.rest()
  return change
}

function writeVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let position = at
  while (rest > 0x7f) {
    bytes[position++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[position] = rest
  return position + 1
}

function writeBytes(bytes: Buffer, at: number, data: Buffer): number {
  const start = writeVarint(bytes, at, data.length)
  return start + data.copy(bytes, start)
}

/** Reads parts one after another, and never beyond the end. */
class Reader {
  readonly #sequence: number
  readonly #bytes: Buffer
  #at = 0

  constructor(sequence: number, bytes: Buffer) {
    this.#sequence = sequence
    this.#bytes = bytes
  }

  uint(size: number): number {
    return this.#bytes.readUIntBE(this.#advance(size), size)
  }

  varint(): number {
    let value = 0
    for (let digit = 0; digit < LARGEST_VARINT; digit++) {
      const byte = this.#bytes[this.#advance(1)] as number
      value += (byte & 0x7f) * 2 ** (7 * digit)
      if (byte < 0x80) return value
    }
    throw this.#damaged()
  }

  bytes(length: number): Buffer {
    const start = this.#advance(length)
    return this.#bytes.subarray(start, start + length)
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  #advance(length: number): number {
    const start = this.#at
    if (start + length > this.#bytes.length) throw this.#damaged()
    this.#at = start + length
    return start
  }

  #damaged(): Error {
    return feedError('FEED_DAMAGED', `Change ${this.#sequence} of the feed is damaged`)
  }
}
