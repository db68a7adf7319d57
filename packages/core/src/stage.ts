/**
 * The operations of a call at one object that they come by, with what its hook functions add. As in abstract-level the functions
 * see all that comes, in its order, and what they add comes after it.
 */

import { CarriedOperation, type PublicOperation } from './carried-operation.js'
import type { Database } from './database.js'
import { type Adder, HookCall } from './hook-call.js'
import { OperationList } from './operation-list.js'
import type { Watcher } from './watchers.js'
import { WriteListener } from './write-listeners.js'

export class Stage implements Adder {
  readonly #watcher: Watcher
  readonly #call = new HookCall(this)
  readonly #came: CarriedOperation[] = []
  readonly #cameList = new OperationList()
  /** What functions have added. The lists are the same as keys and values, as they will be written. */
  readonly #added: CarriedOperation[] = []
  #addedList: OperationList | null = null

  constructor(watcher: Watcher) {
    this.#watcher = watcher
  }

  get length(): number {
    return this.#came.length + this.#added.length
  }

  /** All operations, in the order in which they will be written. */
  get operations(): CarriedOperation[] {
    return this.#added.length === 0 ? this.#came : this.#came.concat(this.#added)
  }

  /** The same as keys and values. To be called once, at the end. */
  get list(): OperationList {
    if (this.#addedList !== null) this.#cameList.append(this.#addedList)
    return this.#cameList
  }

  /**
   * Has the functions see an operation. If one throws, the operation and what was added for it are left out.
   *
   * @param method - Of the call, for errors.
   */
  take(operation: CarriedOperation, method: string): void {
    const { namespace, functions, below } = this.#watcher
    const carried = below === null ? operation : operation.forwarded(namespace.owner, below)
    const { length } = this.#added

    try {
      for (const run of functions) this.#call.run(run, namespace.owner, carried, method)
      this.#cameList.push(carried.rootKey, carried.value)
      this.#came.push(carried)
    } catch (error) {
      this.#added.length = length
      this.#addedList?.truncate(length)
      throw error
    }
  }

  /** Takes what a function adds. */
  add(operation: PublicOperation, owner: Database): void {
    const carried = CarriedOperation.of(operation, owner, this.#watcher.namespace.store.root)
    this.#addedList ??= new OperationList()
    this.#addedList.push(carried.rootKey, carried.value)
    this.#added.push(carried)
  }

  clear(): void {
    this.#came.length = this.#added.length = 0
    this.#cameList.truncate(0)
    this.#addedList = null
  }

  /** What a key will be, by what came up to now and was added for it; undefined if that leaves it alone. */
  find(identity: string): ReturnType<OperationList['find']> {
    const added = this.#addedList?.find(identity)
    return added !== undefined ? added : this.#cameList.find(identity)
  }

  /** What there is to hear; null if nobody listens. */
  events(): WriteListener | null {
    if (!this.#watcher.isHeard) return null
    const listener = new WriteListener(this.#watcher.namespace)
    for (const carried of this.operations) listener.note(carried)
    return listener
  }
}
