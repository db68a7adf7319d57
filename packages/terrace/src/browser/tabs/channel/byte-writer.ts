/** Bytes that are collected for a message. */

import type { Room } from '../../wasm/arguments.js'

const FIRST_SIZE = 4096

/** Memory beyond this size is given back when the bytes are taken. */
const MAX_KEPT_BYTES = 1 << 20

const noBytes = new Uint8Array(0)

export class ByteWriter implements Room {
  memory = new Uint8Array(FIRST_SIZE)
  /** Where the next bytes go. */
  end = 0

  room(sizeBytes: number): number {
    const needed = this.end + sizeBytes
    if (needed > this.memory.length) {
      const larger = new Uint8Array(Math.max(needed, this.memory.length * 2))
      larger.set(this.memory.subarray(0, this.end))
      this.memory = larger
    }
    return this.end
  }

  /** Adds bytes. */
  add(bytes: Uint8Array): void {
    const start = this.room(bytes.byteLength)
    this.memory.set(bytes, start)
    this.end += bytes.byteLength
  }

  /** Takes all bytes, in an array that has nothing else. */
  take(): Uint8Array {
    if (this.end === 0) return noBytes
    const taken = this.memory.slice(0, this.end)
    this.end = 0
    if (this.memory.length > MAX_KEPT_BYTES) this.memory = new Uint8Array(FIRST_SIZE)
    return taken
  }
}
