import type { AnyLevel } from '../level-like.js'
import type { PartLimits } from './options.js'
import { type RawEntry, sizeOf } from './tally.js'
import { rawBytes } from './write-entries.js'

type Operation = { type: 'put'; key: Uint8Array; value: Uint8Array } | { type: 'del'; key: Uint8Array }

/**
 * Writes entries in batches. The next batch is collected while the previous one is being written, so that reading and writing
 * overlap. Batches take effect in order.
 */
export class BatchWriter {
  /** How many entries have been written. */
  written = 0
  /** How many entries have been deleted. */
  deleted = 0
  readonly #to: AnyLevel
  readonly #limits: PartLimits
  #operations: Operation[] = []
  #bytes = 0
  #pending: Promise<void> | undefined

  constructor(to: AnyLevel, limits: PartLimits) {
    this.#to = to
    this.#limits = limits
  }

  put(entry: RawEntry): void {
    const [key, value] = entry
    this.#operations.push({ type: 'put', key, value })
    this.#bytes += sizeOf(entry)
    this.written++
  }

  del(key: Uint8Array): void {
    this.#operations.push({ type: 'del', key })
    this.#bytes += key.byteLength
    this.deleted++
  }

  /** Whether the collected operations should be written before `entry` is added. */
  isFullFor(entry: RawEntry): boolean {
    const { length } = this.#operations
    return length >= this.#limits.entries || (length > 0 && this.#bytes + sizeOf(entry) > this.#limits.bytes)
  }

  /** Starts to write the collected operations once the previous batch is written. */
  async pass(): Promise<void> {
    const operations = this.#operations
    if (operations.length === 0) return
    this.#operations = []
    this.#bytes = 0
    await this.#pending
    this.#pending = this.#to.batch(operations, rawBytes as object)
    // The next caller that awaits it gets the error.
    this.#pending.catch(() => {})
  }

  /** Writes the remaining operations, and waits for them. */
  async finish(): Promise<void> {
    await this.pass()
    await this.#pending
  }

  /** Waits until no batch is in flight, even if one fails. */
  async settle(): Promise<void> {
    await this.#pending?.catch(() => {})
  }
}
