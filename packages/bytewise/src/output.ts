/**
 * The buffer in which keys are encoded. It grows as needed and is reused for each key. `encode.ts` and the writers of single
 * types fill it; the caller gets a copy.
 */

import { codedError } from './errors.js'
import { MAX_KEY_SIZE_BYTES } from './limits.js'

const FIRST_CAPACITY_BYTES = 4096

/** After a long key, memory beyond this size is released. */
const KEPT_CAPACITY_BYTES = 1024 * 1024

/** Copies up to this size are made by a loop, because calling a copy function costs more. */
const LOOP_SIZE_BYTES = 96

/** Node's class; browsers have none. */
const NodeBuffer: typeof Buffer | undefined = globalThis.Buffer

/** Makes bytes of the class that callers get: a `Buffer` where that class exists. */
export const allocate: (sizeBytes: number) => Uint8Array =
  typeof NodeBuffer?.allocUnsafe === 'function'
    ? (sizeBytes) => NodeBuffer.allocUnsafe(sizeBytes)
    : (sizeBytes) => new Uint8Array(sizeBytes)

/** Copies a part of `bytes` for the caller. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const size = end - start
  const copy = allocate(size)
  if (size > LOOP_SIZE_BYTES) {
    copy.set(bytes.subarray(start, end))
  } else {
    let i = 0
    for (; i + 4 <= size; i += 4) {
      copy[i] = bytes[start + i] as number
      copy[i + 1] = bytes[start + i + 1] as number
      copy[i + 2] = bytes[start + i + 2] as number
      copy[i + 3] = bytes[start + i + 3] as number
    }
    for (; i < size; i++) copy[i] = bytes[start + i] as number
  }
  return copy
}

/** The growing buffer. Writers call {@link reserve}, and then write into `bytes` or `view` from `position` on. */
export class Output {
  bytes = allocate(FIRST_CAPACITY_BYTES)
  view = viewOf(this.bytes)
  position = 0

  /** Whether a bound was written last. Nothing can follow it. */
  endsInBound = false

  /** Makes room for `sizeBytes` more. Afterwards `bytes` and `view` may be different objects. */
  reserve(sizeBytes: number): void {
    if (this.position + sizeBytes > this.bytes.length) this.#grow(sizeBytes)
  }

  /** Writes one byte. */
  push(byte: number): void {
    this.reserve(1)
    this.bytes[this.position++] = byte
  }

  /** Copies what was written from `start` on. */
  copyFrom(start: number): Uint8Array {
    if (this.position - start > MAX_KEY_SIZE_BYTES) throw tooLong()
    return copyOf(this.bytes, start, this.position)
  }

  /** Discards what was written from `start` on, and releases memory that a long key took. */
  rewind(start: number): void {
    this.position = start
    if (start === 0 && this.bytes.length > KEPT_CAPACITY_BYTES) this.#replace(allocate(FIRST_CAPACITY_BYTES))
  }

  #grow(sizeBytes: number): void {
    // Reservations may be three times as large as what is written, so only what was written counts.
    if (this.position > MAX_KEY_SIZE_BYTES) throw tooLong()
    const capacity = Math.max(this.bytes.length * 2, this.position + sizeBytes)
    const larger = allocate(capacity)
    larger.set(this.bytes.subarray(0, this.position))
    this.#replace(larger)
  }

  #replace(bytes: Uint8Array): void {
    this.bytes = bytes
    this.view = viewOf(bytes)
  }
}

/** Makes the error about a key over the limit. */
export function tooLong(): Error {
  return codedError('BYTEWISE_TOO_LONG', `The key is longer than ${MAX_KEY_SIZE_BYTES} bytes`)
}

/** Makes a view of the same bytes, for numbers. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
