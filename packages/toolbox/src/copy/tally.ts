import { checksumOf } from './checksum.js'
import type { Summary, WorkOptions } from './options.js'

/** An entry as the database stores it. */
export type RawEntry = [key: Uint8Array, value: Uint8Array]

/** At most four reports a second. */
const REPORT_INTERVAL_MS = 250

/** The size of the two lengths in front of an entry. */
export const LENGTHS_BYTES = 8

/** Counts entries, computes their checksum, and reports progress from time to time. */
export class Tally {
  readonly #onProgress: WorkOptions['onProgress']
  #entries = 0
  #bytes = 0
  #checksum = 0
  #reportedAt = performance.now()

  constructor({ onProgress }: WorkOptions) {
    this.#onProgress = onProgress
  }

  /** Counts an entry. */
  add(entry: RawEntry): void {
    const [key, value] = entry
    this.#checksum = checksumOf(value, checksumOf(key, checksumOf(lengthsOf(entry), this.#checksum)))
    this.#entries++
    this.#bytes += key.byteLength + value.byteLength
  }

  /** Reports the progress, unless that happened a moment ago. */
  report(): void {
    const now = performance.now()
    if (now - this.#reportedAt < REPORT_INTERVAL_MS) return
    this.#reportedAt = now
    this.#tell()
  }

  /** Reports the final progress, and returns the summary. */
  finish(): Summary {
    this.#tell()
    return this.summary
  }

  get summary(): Summary {
    return { entries: this.#entries, bytes: this.#bytes, checksum: this.#checksum }
  }

  #tell(): void {
    this.#onProgress?.({ entries: this.#entries, bytes: this.#bytes })
  }
}

/** The bytes in front of an entry: the lengths of key and value. */
export function lengthsOf([key, value]: RawEntry): Buffer {
  const lengths = Buffer.allocUnsafe(LENGTHS_BYTES)
  lengths.writeUInt32LE(key.byteLength, 0)
  lengths.writeUInt32LE(value.byteLength, 4)
  return lengths
}

/** The bytes that an entry takes, with its lengths. */
export function sizeOf([key, value]: RawEntry): number {
  return LENGTHS_BYTES + key.byteLength + value.byteLength
}
