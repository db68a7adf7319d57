/**
 * The functions with `everyWrite`. They see operations in the order in which these will be written. Each operation passes from
 * its deepest key space up to the root; then what was added for it does the same, before the next operation comes.
 */

import { codedError } from '../errors.js'
import type { Database, HookedSpace } from '../level/database.js'
import type { Store } from '../level/store.js'
import { spacesAround } from '../sublevel/namespace.js'
import { CarriedOperation, type PublicOperation } from '../write/carried-operation.js'
import { OperationList } from '../write/operation-list.js'
import { type Adder, HookCall } from './hook-call.js'
import type { HookReads, Steps } from './hook-reads.js'
import type { WriteListener } from './write-listeners.js'

/** The longest chain of operations in which a function adds each one for the last. */
const MAX_DEPTH = 8

/** Operations that functions have added for the current one. */
interface Additions {
  readonly operations: CarriedOperation[]
  readonly list: OperationList
}

export class EveryWrite implements Adder {
  readonly #store: Store
  readonly #listeners: readonly WriteListener[]
  readonly #method: string
  /** The operations that have been seen, in the order in which they will be written. */
  readonly list = new OperationList()
  /** What has been added for the operation that functions see now. */
  #additions: Additions | null = null
  /** The objects that functions add operations with, by the prefix of their key space. */
  readonly #calls = new Map<string, HookCall>()

  /** @param method - The name of the called method, for errors. */
  constructor(store: Store, listeners: readonly WriteListener[], method: string) {
    this.#store = store
    this.#listeners = listeners
    this.#method = method
  }

  /** Shows an operation to the functions, and then the operations that were added for it. */
  take(given: CarriedOperation): void {
    this.#additions = null
    let carried = given
    for (const space of spacesAround(this.#store, given.target)) carried = this.#visit(space, carried)

    this.list.push(carried.rootKey, carried.value)
    for (const listener of this.#listeners) listener.revise(carried)

    const additions = this.#additions as Additions | null
    if (additions !== null) for (const each of additions.operations) this.take(each)
  }

  /** Shows operations to functions that may have to wait for what they read; see {@link take}. */
  *takeAllInSteps(reads: HookReads, given: readonly CarriedOperation[]): Steps {
    for (const each of given) yield* this.takeInSteps(reads, each)
  }

  /** Like {@link take}, for functions that may have to wait for what they read. */
  *takeInSteps(reads: HookReads, given: CarriedOperation): Steps {
    this.#additions = null
    let carried = given
    for (const { prefix, functions } of spacesAround(this.#store, given.target)) {
      const { addedBy, depth } = carried.origin
      if (prefix === addedBy) continue

      for (const { run, owner } of functions) {
        if (prefix !== carried.prefix) carried = carried.inTermsOf(owner)
        yield* this.#callOf(prefix).runInSteps(reads, run, owner, carried, this.#method, depth + 1)
      }
    }

    this.list.push(carried.rootKey, carried.value)
    for (const listener of this.#listeners) listener.revise(carried)

    const additions = this.#additions as Additions | null
    if (additions !== null) for (const each of additions.operations) yield* this.takeInSteps(reads, each)
  }

  /** The value that a key will have after the operations seen so far; undefined if they do not touch it. */
  find(identity: string): ReturnType<OperationList['find']> {
    const added = this.#additions?.list.find(identity)
    return added !== undefined ? added : this.list.find(identity)
  }

  /** Shows an operation to the functions of a key space. */
  #visit({ prefix, functions }: HookedSpace, carried: CarriedOperation): CarriedOperation {
    const { addedBy, depth } = carried.origin
    if (prefix === addedBy) return carried

    let seen = carried
    for (const { run, owner } of functions) {
      if (prefix !== seen.prefix) seen = seen.inTermsOf(owner)
      this.#callOf(prefix).run(run, owner, seen, this.#method, depth + 1)
    }
    return seen
  }

  /** Takes an operation that a function adds. */
  add(operation: PublicOperation, owner: Database, depth: number): void {
    if (depth > MAX_DEPTH) {
      throw codedError(
        'LEVEL_HOOK_RECURSION',
        `Prewrite hook functions add operations for each other without end: ${MAX_DEPTH} deep`
      )
    }

    const origin = { addedBy: owner.prefix ?? '', depth }
    const carried = CarriedOperation.of(operation, owner, this.#store.root, origin)
    for (const listener of this.#listeners) listener.noteAdded(carried)
    this.#additions ??= { operations: [], list: new OperationList() }
    this.#additions.operations.push(carried)
    this.#additions.list.push(carried.rootKey, carried.value)
  }

  get addedLength(): number {
    return this.#additions?.operations.length ?? 0
  }

  truncateAdded(length: number): void {
    const dropped = this.#additions?.operations.splice(length) ?? []
    for (const carried of dropped.reverse())
      for (const listener of this.#listeners) listener.forgetAdded(carried)
    this.#additions?.list.truncate(length)
  }

  #callOf(prefix: string): HookCall {
    let call = this.#calls.get(prefix)
    if (call === undefined) {
      call = new HookCall(this)
      this.#calls.set(prefix, call)
    }
    return call
  }
}
