/**
 * A chained batch that collects its operations and writes them as an array. In abstract-level, the hooks of a chained batch run
 * while it is being filled, which may be long before it is written. Those of an array run when it takes effect.
 */

import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'

type WriteArray = (operations: object[], options: object | undefined) => Promise<void>

/** A chained batch with the methods of abstract-level's. */
export class CollectedBatch {
  readonly db: AnyLevel
  readonly #write: WriteArray
  #operations: object[] = []
  #isOpen = true

  constructor(db: AnyLevel, write: WriteArray) {
    this.db = db
    this.#write = write
    db.attachResource(this)
  }

  /** The number of operations in the batch, without those that hooks will add. */
  get length(): number {
    return this.#operations.length
  }

  put(key: unknown, value: unknown, options?: object): this {
    const target = this.#target(options)
    target._assertValidKey(key)
    target._assertValidValue(value)
    this.#operations.push({ ...options, type: 'put', key, value })
    return this
  }

  del(key: unknown, options?: object): this {
    this.#target(options)._assertValidKey(key)
    this.#operations.push({ ...options, type: 'del', key })
    return this
  }

  /** Forgets its operations. */
  clear(): this {
    this.#assertOpen()
    this.#operations = []
    return this
  }

  /** Writes the operations as one batch, in the order in which they were added, and closes the batch. */
  async write(options?: object): Promise<void> {
    this.#assertOpen()
    const operations = this.#operations
    await this.close()
    if (operations.length > 0) await this.#write(operations, options)
  }

  /** Closes the batch. Operations that were not written are forgotten. */
  async close(): Promise<void> {
    this.#isOpen = false
    this.#operations = []
    this.db.detachResource(this)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #target(options: { sublevel?: unknown } | undefined): Validator {
    this.#assertOpen()
    return (options?.sublevel ?? this.db) as Validator
  }

  #assertOpen(): void {
    if (this.#isOpen) return
    throw codedError(
      'LEVEL_BATCH_NOT_OPEN',
      'Batch is not open: cannot change operations after write() or close()'
    )
  }
}

/** Abstract-level's checks of keys and values, which its types lack. */
interface Validator {
  _assertValidKey(key: unknown): void
  _assertValidValue(value: unknown): void
}
