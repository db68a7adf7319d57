/**
 * The functions with `everyWrite`. They see operations in the order in which these will be written. Each operation passes from
 * its deepest key space up to the root; then what was added for it does the same, before the next operation comes.
 */

import { codedError } from '../errors.js'
import type { Database, HookedSpace } from '../level/database.js'
import type { Store } from '../level/store.js'
import { spacesAround } from '../sublevel/namespace.js'
import { HookedOperation, type PublicOperation } from '../write/hooked-operation.js'
import { OperationList } from '../write/operation-list.js'
import { type Adder, HookCall } from './hook-call.js'
import type { HookReads, Steps } from './hook-reads.js'
import type { WriteListener } from './write-listeners.js'

/** The longest chain of operations in which a function adds each one for the last. */
const MAX_DEPTH = 8

/** Operations that functions have added for the current one. */
interface Additions {
  readonly operations: HookedOperation[]
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
  take(given: HookedOperation): void {
    this.#additions = null
    let hooked = given
    for (const space of spacesAround(this.#store, given.target)) hooked = this.#visit(space, hooked)

    this.list.push(hooked.rootKey, hooked.value)
    for (const listener of this.#listeners) listener.revise(hooked)

    const additions = this.#additions as Additions | null
    if (additions !== null) for (const each of additions.operations) this.take(each)
  }

  /** Shows operations to functions that may have to wait for what they read; see {@link take}. */
  *takeAllInSteps(reads: HookReads, given: readonly HookedOperation[]): Steps {
    for (const each of given) yield* this.takeInSteps(reads, each)
  }

  /** Like {@link take}, for functions that may have to wait for what they read. */
  *takeInSteps(reads: HookReads, given: HookedOperation): Steps {
    this.#additions = null
    let hooked = given
    for (const { prefix, functions } of spacesAround(this.#store, given.target)) {
      const { addedBy, depth } = hooked.origin
      if (prefix === addedBy) continue

      for (const { run, owner } of functions) {
        if (prefix !== hooked.prefix) hooked = hooked.inTermsOf(owner)
        yield* this.#callOf(prefix).runInSteps(reads, run, owner, hooked, this.#method, depth + 1)
      }
    }

    this.list.push(hooked.rootKey, hooked.value)
    for (const listener of this.#listeners) listener.revise(hooked)

    const additions = this.#additions as Additions | null
    if (additions !== null) for (const each of additions.operations) yield* this.takeInSteps(reads, each)
  }

  /** The value that a key will have after the operations seen so far; undefined if they do not touch it. */
  find(identity: string): ReturnType<OperationList['find']> {
    const added = this.#additions?.list.find(identity)
    return added !== undefined ? added : this.list.find(identity)
  }

  /** Shows an operation to the functions of a key space. */
  #visit({ prefix, functions }: HookedSpace, hooked: HookedOperation): HookedOperation {
    const { addedBy, depth } = hooked.origin
    if (prefix === addedBy) return hooked

    let seen = hooked
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
    const hooked = HookedOperation.of(operation, owner, this.#store.root, origin)
    for (const listener of this.#listeners) listener.noteAdded(hooked)
    this.#additions ??= { operations: [], list: new OperationList() }
    this.#additions.operations.push(hooked)
    this.#additions.list.push(hooked.rootKey, hooked.value)
  }

  get addedLength(): number {
    return this.#additions?.operations.length ?? 0
  }

  truncateAdded(length: number): void {
    const dropped = this.#additions?.operations.splice(length) ?? []
    for (const hooked of dropped.reverse())
      for (const listener of this.#listeners) listener.forgetAdded(hooked)
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
