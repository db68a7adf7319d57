/**
 * The operations of a call as they pass one object, with what the hook functions of that object add. As in abstract-level, the
 * functions see all operations that arrive, in order, and what they add comes after them.
 */

import type { Database } from '../level/database.js'
import { HookedOperation, type PublicOperation } from '../write/hooked-operation.js'
import { OperationList } from '../write/operation-list.js'
import { type Adder, HookCall } from './hook-call.js'
import type { HookReads, Steps } from './hook-reads.js'
import type { Watcher } from './watchers.js'
import { WriteListener } from './write-listeners.js'

export class Stage implements Adder {
  readonly #watcher: Watcher
  readonly #call = new HookCall(this)
  readonly #arrived: HookedOperation[] = []
  readonly #arrivedList = new OperationList()
  /** The operations that functions have added. The lists hold the same operations as keys and values, as they will be written. */
  readonly #added: HookedOperation[] = []
  #addedList: OperationList | null = null

  constructor(watcher: Watcher) {
    this.#watcher = watcher
  }

  get length(): number {
    return this.#arrived.length + this.#added.length
  }

  /** All operations, in the order in which they will be written. */
  get operations(): HookedOperation[] {
    return this.#added.length === 0 ? this.#arrived : this.#arrived.concat(this.#added)
  }

  /** The same operations as keys and values. Read it once, at the end. */
  get list(): OperationList {
    if (this.#addedList !== null) this.#arrivedList.append(this.#addedList)
    return this.#arrivedList
  }

  /**
   * Shows an operation to the functions. If one throws, the operation and what was added for it are dropped.
   *
   * @param method - The name of the called method, for errors.
   */
  take(operation: HookedOperation, method: string): void {
    const { namespace, functions } = this.#watcher
    const hooked = this.#forwarded(operation)
    const { length } = this.#added

    try {
      for (const run of functions) this.#call.run(run, namespace.owner, hooked, method)
      this.#push(hooked)
    } catch (error) {
      this.truncateAdded(length)
      throw error
    }
  }

  /** Like {@link take}, for functions that may have to wait for what they read. If one throws, the stage is unusable. */
  *takeInSteps(reads: HookReads, operation: HookedOperation, method: string): Steps {
    const { namespace, functions } = this.#watcher
    const hooked = this.#forwarded(operation)
    for (const run of functions) yield* this.#call.runInSteps(reads, run, namespace.owner, hooked, method)
    this.#push(hooked)
  }

  #forwarded(operation: HookedOperation): HookedOperation {
    const { namespace, below } = this.#watcher
    return below === null ? operation : operation.forwarded(namespace.owner, below)
  }

  #push(hooked: HookedOperation): void {
    this.#arrivedList.push(hooked.rootKey, hooked.value)
    this.#arrived.push(hooked)
  }

  /** Takes an operation that a function adds. */
  add(operation: PublicOperation, owner: Database): void {
    const hooked = HookedOperation.of(operation, owner, this.#watcher.namespace.store.root)
    this.#addedList ??= new OperationList()
    this.#addedList.push(hooked.rootKey, hooked.value)
    this.#added.push(hooked)
  }

  get addedLength(): number {
    return this.#added.length
  }

  truncateAdded(length: number): void {
    this.#added.length = length
    this.#addedList?.truncate(length)
  }

  clear(): void {
    this.#arrived.length = this.#added.length = 0
    this.#arrivedList.truncate(0)
    this.#addedList = null
  }

  /** The value that a key will have after the operations so far; undefined if they do not touch it. */
  find(identity: string): ReturnType<OperationList['find']> {
    const added = this.#addedList?.find(identity)
    return added !== undefined ? added : this.#arrivedList.find(identity)
  }

  /** What listeners will receive; null if there are none. */
  events(): WriteListener | null {
    if (!this.#watcher.hasListeners) return null
    const listener = new WriteListener(this.#watcher.namespace)
    for (const hooked of this.operations) listener.note(hooked)
    return listener
  }
}
