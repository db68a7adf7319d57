import { type ByteString, decodedBy, type Encoded, type Encoding } from '../encoded.js'
import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'
import type { KeyRange } from './key-range.js'
import { countBefore } from './sorted.js'

/** A write of a transaction that is not committed yet. */
export interface OwnWrite {
  readonly key: ByteString
  /** The encoded value; undefined if the key is deleted. */
  readonly value: Encoded | undefined
  readonly db: AnyLevel
  /** The operation as it goes into the batch. */
  readonly operation: Record<PropertyKey, unknown>
}

/** The writes of a transaction: the last one for each key. */
export class OwnWrites {
  readonly #writes = new Map<ByteString, OwnWrite>()
  /** In the order of keys; made when an iterator first asks for it. */
  #sorted: OwnWrite[] | undefined

  get size(): number {
    return this.#writes.size
  }

  get(key: ByteString): OwnWrite | undefined {
    return this.#writes.get(key)
  }

  set(write: OwnWrite): void {
    // Moved to the end: a batch has operations in the order in which they were called.
    const isReplaced = this.#writes.delete(write.key)
    this.#writes.set(write.key, write)
    this.#sorted?.splice(this.#countBefore(write.key), isReplaced ? 1 : 0, write)
  }

  all(): Iterable<OwnWrite> {
    return this.#writes.values()
  }

  /** The writes in a range, in order. */
  within({ from, to }: KeyRange, reverse: boolean): OwnWrite[] {
    this.#sorted ??= [...this.#writes.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
    const end = to === undefined ? this.#sorted.length : this.#countBefore(to)
    const writes = this.#sorted.slice(this.#countBefore(from), end)
    return reverse ? writes.reverse() : writes
  }

  #countBefore(key: ByteString): number {
    const sorted = this.#sorted as OwnWrite[]
    return countBefore(sorted.length, (index) => (sorted[index] as OwnWrite).key < key)
  }
}

/**
 * The value of an own write, as a read with this encoding returns it; undefined if the key is deleted.
 *
 * @throws LEVEL_DECODE_ERROR if the encoding cannot decode the value.
 */
export function ownValue(write: OwnWrite, encoding: Encoding): unknown {
  if (write.value === undefined) return undefined

  try {
    return decodedBy(encoding, write.value)
  } catch (error) {
    throw codedError('LEVEL_DECODE_ERROR', 'Could not decode value', error)
  }
}
