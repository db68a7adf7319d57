/**
 * A chained batch that collects its operations and writes them as an array. abstract-level runs the hooks of
 * a chained batch when it is filled, however long before it is written; those of an array when it takes
 * effect.
 */

import { codedError } from '../errors.js'
import type { AnyLevel } from '../level-like.js'

type WriteArray = (operations: object[], options: object | undefined) => Promise<void>

/** A chained batch. It has the methods of abstract-level's. */
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

  /** How many operations it holds, without those that hooks will add. */
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

  /** Writes the operations as one batch, in the order they were added, and closes it. */
  async write(options?: object): Promise<void> {
    this.#assertOpen()
    const operations = this.#operations
    await this.close()
    if (operations.length > 0) await this.#write(operations, options)
  }

  /** Closes it. What was not written is forgotten. */
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

/** abstract-level's checks of keys and values, which its types lack. */
interface Validator {
  _assertValidKey(key: unknown): void
  _assertValidValue(value: unknown): void
}
