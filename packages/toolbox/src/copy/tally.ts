import { Buffer } from '../buffer.js'
import { checksumOf } from './checksum.js'
import type { Summary, WorkOptions } from './options.js'
import { Pace } from './pace.js'

/** An entry as the database stores it. */
export type RawEntry = [key: Uint8Array, value: Uint8Array]

/** The size of the two lengths in front of an entry. */
export const LENGTHS_BYTES = 8

const BYTES_COMPARED_HERE = 32

/** How many bytes are gathered before their checksum is computed. */
const GATHERED_BYTES = 2 ** 14

/** Counts entries, computes their checksum, and reports progress from time to time. */
export class Tally {
  readonly #onProgress: WorkOptions['onProgress']
  #entries = 0
  #bytes = 0
  #checksum = 0
  /** Entries that are not yet in the checksum. */
  readonly #gathered = Buffer.allocUnsafe(GATHERED_BYTES)
  #gatheredBytes = 0
  #lastKey: Uint8Array | undefined
  #isAscending = true
  readonly #pace = new Pace()

  constructor({ onProgress }: WorkOptions) {
    this.#onProgress = onProgress
  }

  /** Counts an entry. */
  add(entry: RawEntry): void {
    const [key, value] = entry
    if (this.#lastKey !== undefined && compareKeys(this.#lastKey, key) >= 0) this.#isAscending = false
    this.#lastKey = key
    this.#gather(entry)
    this.#entries++
    this.#bytes += key.byteLength + value.byteLength
  }

  /** Reports the progress, unless that happened a moment ago. */
  report(): void {
    if (this.#pace.isDue()) this.#tell()
  }

  /** Reports the final progress, and returns the summary. */
  finish(): Summary {
    this.#tell()
    return this.summary
  }

  /** The key that was counted last. */
  get lastKey(): Uint8Array | undefined {
    return this.#lastKey
  }

  /** Whether the keys came in the order of their bytes. */
  get isAscending(): boolean {
    return this.#isAscending
  }

  get summary(): Summary {
    this.#sum()
    return { entries: this.#entries, bytes: this.#bytes, checksum: this.#checksum }
  }

  /** Takes an entry into the checksum. One call of zlib for many entries costs less than one for each piece of each. */
  #gather(entry: RawEntry): void {
    const [key, value] = entry
    const size = sizeOf(entry)
    if (this.#gatheredBytes + size > GATHERED_BYTES) this.#sum()
    if (size > GATHERED_BYTES) {
      this.#checksum = checksumOf(value, checksumOf(key, checksumOf(lengthsOf(entry), this.#checksum)))
      return
    }

    const start = this.#gatheredBytes
    this.#gathered.writeUInt32LE(key.byteLength, start)
    this.#gathered.writeUInt32LE(value.byteLength, start + 4)
    this.#gathered.set(key, start + LENGTHS_BYTES)
    this.#gathered.set(value, start + LENGTHS_BYTES + key.byteLength)
    this.#gatheredBytes += size
  }

  /** Takes what was gathered into the checksum. */
  #sum(): void {
    this.#checksum = checksumOf(this.#gathered.subarray(0, this.#gatheredBytes), this.#checksum)
    this.#gatheredBytes = 0
  }

  #tell(): void {
    this.#onProgress?.({ entries: this.#entries, bytes: this.#bytes })
  }
}

/** Compares keys by their bytes. Most differ within the first, for which a call out of JavaScript would be too dear. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length, BYTES_COMPARED_HERE)
  for (let index = 0; index < length; index++) {
    const difference = (a[index] as number) - (b[index] as number)
    if (difference !== 0) return difference
  }
  return Buffer.compare(a, b)
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
