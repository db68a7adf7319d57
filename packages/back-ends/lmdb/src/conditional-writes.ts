/**
 * Writes with conditions. They are checked in JavaScript, within the transaction that writes: LMDB has one writer at a time, so the
 * conditions still hold when the operations take effect, whatever other threads and processes do.
 *
 * A thread that is stopped within such a transaction must not leave it open, or the database is locked for all processes. So the
 * main thread, which `process.exit()` ends without running callbacks, uses synchronous transactions. A worker thread, which
 * `terminate()` ends in the middle of a function, lets lmdb's thread make the transaction and only answers it.
 */

import { BarrierQueue, conflict, type Operations } from 'terrace-core'
import { IF_EXISTS, type LmdbStore } from './binding.js'
import { type Condition, conditionOf, type GivenCondition, holds } from './conditions.js'
import { type KeyCodec, StoredKey } from './keys.js'
import { apply, inOrder, type Operation } from './operations.js'

/** A key before all others, which exists within a transaction between the check of conditions that hold and the write. */
const PASSED = new StoredKey(Buffer.from([0]))
const NOTHING = Buffer.alloc(0)

/**
 * The transactions of lmdb's threads that wait for this thread. To open a database, lmdb blocks this thread until it is the only
 * writer. That would take forever while such a transaction waits, so an opening is a barrier.
 */
export const answered = new BarrierQueue()

/** A write and its conditions. Their bytes are its own. */
export class ConditionalWrite {
  readonly #conditions: readonly Condition[]
  readonly #operations: readonly Operation[]
  #failed: number[] = []

  constructor(conditions: readonly GivenCondition[], operations: Operations) {
    this.#conditions = conditions.map(conditionOf)
    this.#operations = inOrder(operations)
  }

  /** Checks the conditions and writes. Must be called within a synchronous transaction of lmdb. */
  write(store: LmdbStore, codec: KeyCodec): void {
    if (this.#check(store, codec)) apply(store, this.#operations)
  }

  /** @throws LEVEL_CONFLICT if a condition did not hold when the write was attempted. */
  assertDone(): void {
    if (this.#failed.length > 0) throw conflict(this.#failed, this.#conditions.length)
  }

  /**
   * Checks the conditions in a transaction of lmdb's thread, after all writes that were passed to it before; see
   * {@link answered}. The write is not JavaScript's: it depends on {@link PASSED}, so that a thread that is terminated meanwhile leaves the whole of it or nothing.
   */
  async submit(store: LmdbStore, codec: KeyCodec): Promise<void> {
    const isEmpty = this.#operations.length === 0
    const checked = store.transaction(() => {
      const hold = this.#check(store, codec)
      if (hold && !isEmpty) store.put(PASSED, NOTHING)
    })
    const written = isEmpty
      ? checked
      : store.ifVersion(PASSED, IF_EXISTS, () => {
          apply(store, this.#operations)
          store.remove(PASSED)
        })
    await Promise.all([checked, written])
  }

  #check(store: LmdbStore, codec: KeyCodec): boolean {
    this.#failed = [...this.#conditions.keys()].filter(
      (index) => !holds(store, codec, this.#conditions[index] as Condition)
    )
    return this.#failed.length === 0
  }
}
