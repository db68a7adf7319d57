/**
 * The operations of a call at one object that they come by, with what its hook functions add. As in abstract-level the functions
 * see all that comes, in its order, and what they add comes after it.
 */

import { CarriedOperation } from './carried-operation.js'
import { HookCall } from './hook-call.js'
import { OperationList } from './operation-list.js'
import type { Watcher } from './watchers.js'
import { WriteListener } from './write-listeners.js'

export class Stage {
  readonly #watcher: Watcher
  readonly #came: CarriedOperation[] = []
  readonly #added: CarriedOperation[] = []
  /** What came, and then what was added, as it will be written. */
  readonly #cameList = new OperationList()
  readonly #addedList = new OperationList()
  readonly #call: HookCall

  constructor(watcher: Watcher) {
    this.#watcher = watcher
    const { owner, store } = watcher.place
    this.#call = new HookCall((operation) => {
      const carried = CarriedOperation.of(operation, owner, store.root)
      this.#addedList.push(carried.rootKey, carried.value)
      this.#added.push(carried)
    })
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
    this.#cameList.append(this.#addedList)
    return this.#cameList
  }

  /**
   * Has the functions see an operation. If one throws, the operation and what was added for it are left out.
   *
   * @param method - Of the call, for errors.
   */
  take(operation: CarriedOperation, method: string): void {
    const { place, functions, below } = this.#watcher
    const carried = below === null ? operation : operation.forwarded(place.owner, below)
    const { length } = this.#added

    try {
      for (const run of functions) this.#call.run(run, place.owner, carried, method)
      this.#cameList.push(carried.rootKey, carried.value)
      this.#came.push(carried)
    } catch (error) {
      this.#added.length = length
      this.#addedList.truncate(length)
      throw error
    }
  }

  clear(): void {
    this.#came.length = this.#added.length = 0
    this.#cameList.truncate(0)
    this.#addedList.truncate(0)
  }

  /** What a key will be, by what came up to now and was added for it; undefined if that leaves it alone. */
  find(identity: string): ReturnType<OperationList['find']> {
    const added = this.#addedList.find(identity)
    return added !== undefined ? added : this.#cameList.find(identity)
  }

  /** What there is to hear; null if nobody listens. */
  events(): WriteListener | null {
    if (!this.#watcher.isHeard) return null
    const listener = new WriteListener(this.#watcher.place)
    for (const carried of this.operations) listener.note(carried)
    return listener
  }
}
