/**
 * The operations of one call on their way through the hook functions and to the listeners that see them. Each goes from the
 * key space that it was given to up to the root, and every function and listener sees it in the terms of its own.
 */

import type { Bytes } from './binding.js'
import { CarriedOperation, type Origin, type PublicOperation } from './carried-operation.js'
import { codedError } from './errors.js'
import { type Add, HookCall } from './hook-call.js'
import type { HookedSpace } from './key-space.js'
import { identityOf, OperationList } from './operation-list.js'
import { type Database, type Place, spacesAround } from './place.js'
import { listenersAt, type WriteListener } from './write-listeners.js'

/** So often may an operation that a hook function adds lead to another one. */
const MAX_DEPTH = 8

export interface HookedWritesOptions {
  /** Operations of other calls that will be written in the same batch, before these. */
  before?: OperationList | null
  /** Functions without `everyWrite` that were added later do not count. */
  latest?: number
  /** Whether there is no event `write`. */
  isSilent?: boolean
}

/** Operations that functions have added for another one. */
interface Additions {
  readonly operations: CarriedOperation[]
  readonly list: OperationList
}

export class HookedWrites {
  readonly #place: Place
  readonly #before: OperationList | null
  readonly #latest: number
  /** Those that have been seen, in the order in which they will be written. */
  readonly list = new OperationList()
  /** What has been added for the one that functions see now. */
  #additions: Additions | null = null
  readonly #listeners: readonly WriteListener[] | null
  /** Of the call, for its errors. */
  method: string
  /** What functions add with, by the prefix of their key space. */
  readonly #calls = new Map<string, HookCall>()
  /** Whether a function has read. */
  hasRead = false

  constructor(place: Place, method: string, options?: HookedWritesOptions) {
    this.#place = place
    this.method = method
    this.#before = options?.before ?? null
    this.#latest = options?.latest ?? Infinity
    this.#listeners = options?.isSilent === true ? null : listenersAt(place)
  }

  get length(): number {
    return this.list.length
  }

  /**
   * Takes an operation, which it changes, and has the functions see it. If it throws, the operation and what was added for
   * it are left out.
   *
   * @param owner - Whose operation it is, if it does not name a sublevel.
   * @param via - Functions without `everyWrite` see it in the key spaces around this one.
   */
  take(operation: PublicOperation, owner = this.#place.owner, via = this.#place.prefix): void {
    const { length } = this.list
    const marks = this.#listeners?.map((listener) => listener.mark)

    try {
      this.#carry(this.#check(operation, owner, { via, addedBy: null, depth: 0 }))
    } catch (error) {
      this.list.truncate(length)
      marks?.forEach((mark, index) => {
        this.#listeners?.[index]?.reset(mark)
      })
      throw error
    } finally {
      this.#additions = null
    }
  }

  clear(): void {
    this.list.truncate(0)
    for (const listener of this.#listeners ?? []) listener.reset([0, 0])
  }

  /** What a key will be when these operations are written: null if it is deleted, undefined if they leave it alone. */
  find(key: Bytes): Bytes | null | undefined {
    this.hasRead = true
    if (this.length === 0 && this.#before === null && this.#additions === null) return undefined

    const identity = identityOf(key)
    const added = this.#additions?.list.find(identity)
    if (added !== undefined) return added
    const seen = this.list.find(identity)
    return seen !== undefined ? seen : this.#before?.find(identity)
  }

  /** Whether somebody listens. */
  get isHeard(): boolean {
    return this.#listeners !== null
  }

  /** Emits the event `write`, on the root first. To be called once they are written. */
  emit(): void {
    const listeners = this.#listeners
    for (let index = (listeners?.length ?? 0) - 1; index >= 0; index--) listeners?.[index]?.emit()
  }

  readonly #add: Add = (operation, owner, { prefix }, depth) => {
    if (depth > MAX_DEPTH) {
      throw codedError(
        'LEVEL_HOOK_RECURSION',
        `Prewrite hook functions add operations for each other without end: ${MAX_DEPTH} deep`
      )
    }

    const origin = { via: prefix, addedBy: prefix, depth }
    const carried = this.#check(Object.assign({}, operation), owner, origin)
    const { rootKey, value } = carried
    this.#additions ??= { operations: [], list: new OperationList() }
    this.#additions.operations.push(carried)
    this.#additions.list.push(rootKey, value)
  }

  #check(operation: PublicOperation, owner: Database, origin: Origin): CarriedOperation {
    const { sublevel } = operation
    const { root } = this.#place.store

    if (sublevel !== undefined && sublevel !== null && sublevel !== root && sublevel.db !== root) {
      throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'sublevel' must be a sublevel of this database")
    }

    return new CarriedOperation(operation, owner, origin)
  }

  /** Has functions and listeners see an operation, and then those that were added for it. */
  #carry(carried: CarriedOperation): void {
    const spaces = spacesAround(this.#place.store, carried.target)
    this.#additions = null

    if (this.#listeners === null) {
      for (const space of spaces) this.#visit(space, carried)
    } else {
      this.#visitAll(spaces, this.#listeners, carried)
    }

    this.list.push(carried.rootKey, carried.value)
    const additions = this.#additions as Additions | null
    if (additions !== null) for (const each of additions.operations) this.#carry(each)
  }

  /** Visits key spaces and listeners, the deepest first, and where both are, the key space first. */
  #visitAll(
    spaces: readonly HookedSpace[],
    listeners: readonly WriteListener[],
    carried: CarriedOperation
  ): void {
    const from = carried.prefix
    let next = 0

    for (const listener of listeners) {
      const depth = listener.place.prefix.length
      for (
        let space = spaces[next];
        space !== undefined && space.prefix.length >= depth;
        space = spaces[next]
      ) {
        this.#visit(space, carried)
        next++
      }

      listener.note(carried, from, next === spaces.length && listener === listeners.at(-1))
    }

    for (; next < spaces.length; next++) this.#visit(spaces[next] as HookedSpace, carried)
  }

  /** Has the functions of a key space see an operation. */
  #visit(space: HookedSpace, carried: CarriedOperation): void {
    const { prefix } = space
    const { origin } = carried
    if (prefix === origin.addedBy) return

    const isNear = origin.via.startsWith(prefix)
    let call: HookCall | undefined

    for (const registration of space.functions) {
      if (!registration.everyWrite && !(isNear && registration.order <= this.#latest)) continue

      if (call === undefined) {
        // The database of the call sees an operation as it was given.
        const isOwn = prefix === this.#place.prefix && origin.addedBy === null && carried.isGiven
        if (prefix !== carried.prefix && !isOwn) carried.rebase(prefix, registration.owner)
        call = this.#callOf(space)
      }

      call.run(registration, carried, this.method, origin.depth + 1)
    }
  }

  #callOf(space: HookedSpace): HookCall {
    let call = this.#calls.get(space.prefix)
    if (call === undefined) {
      call = new HookCall(this.#add, space)
      this.#calls.set(space.prefix, call)
    }
    return call
  }
}
