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

export class HookedWrites {
  readonly #place: Place
  readonly #before: OperationList | null
  readonly #latest: number
  readonly #given = new OperationList()
  readonly #added = new OperationList()
  /** Added ones that no function has seen yet. */
  #waiting: CarriedOperation[] = []
  /** The one that functions see now. */
  #carried: CarriedOperation | null = null
  readonly #listeners: readonly WriteListener[] | null
  /** Of the call, for its errors. */
  method: string
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
    return this.#given.length + this.#added.length
  }

  /** All operations, those that were added last. */
  get list(): OperationList {
    if (this.#added.length === 0) return this.#given
    const all = new OperationList()
    all.append(this.#given)
    all.append(this.#added)
    return all
  }

  /**
   * Takes an operation, which it changes, and has the functions see it. If it throws, the operation and what was added for
   * it are left out.
   *
   * @param owner - Whose operation it is, if it does not name a sublevel.
   * @param via - Functions without `everyWrite` see it in the key spaces around this one.
   */
  take(operation: PublicOperation, owner = this.#place.owner, via = this.#place.prefix): void {
    const given = this.#given.length
    const added = this.#added.length
    const marks = this.#listeners?.map((listener) => listener.mark)

    try {
      this.#carry(this.#check(operation, owner, { via, addedBy: null, depth: 0 }, -1))
      // Their functions may add more of them.
      for (const each of this.#waiting) this.#carry(each)
    } catch (error) {
      this.#given.truncate(given)
      this.#added.truncate(added)
      marks?.forEach((mark, index) => {
        this.#listeners?.[index]?.reset(mark)
      })
      throw error
    } finally {
      if (this.#waiting.length > 0) this.#waiting = []
      this.#carried = null
    }
  }

  clear(): void {
    this.#given.truncate(0)
    this.#added.truncate(0)
    for (const listener of this.#listeners ?? []) listener.reset([0, 0])
  }

  /** What a key will be when these operations are written: null if it is deleted, undefined if they leave it alone. */
  find(key: Bytes): Bytes | null | undefined {
    this.hasRead = true
    if (this.length === 0 && this.#before === null) return undefined

    const identity = identityOf(key)
    const added = this.#added.find(identity, this.#carried?.index)
    if (added !== undefined) return added
    const given = this.#given.find(identity)
    return given !== undefined ? given : this.#before?.find(identity)
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
    const carried = this.#check(Object.assign({}, operation), owner, origin, this.#added.length)
    this.#added.push(carried.rootKey, carried.value)
    this.#waiting.push(carried)
  }

  #check(operation: PublicOperation, owner: Database, origin: Origin, index: number): CarriedOperation {
    const { sublevel } = operation
    const { root } = this.#place.store

    if (sublevel !== undefined && sublevel !== null && sublevel !== root && sublevel.db !== root) {
      throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'sublevel' must be a sublevel of this database")
    }

    return new CarriedOperation(operation, owner, origin, index)
  }

  /** Has functions and listeners see an operation. */
  #carry(carried: CarriedOperation): void {
    const spaces = spacesAround(this.#place.store, carried.target)
    // One that was added is encoded already.
    if (carried.index >= 0 && spaces.length === 0 && this.#listeners === null) return

    this.#carried = carried

    if (this.#listeners === null) {
      for (const space of spaces) this.#visit(space, carried)
    } else {
      this.#visitAll(spaces, this.#listeners, carried)
    }

    if (carried.index < 0) this.#given.push(carried.rootKey, carried.value)
    else this.#added.set(carried.index, carried.rootKey, carried.value)
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
        const isOwn = prefix === this.#place.prefix && carried.index < 0 && carried.isGiven
        if (prefix !== carried.prefix && !isOwn) carried.rebase(prefix, registration.owner)
        call = new HookCall(this.#add, space, origin.depth + 1)
      }

      call.run(registration, carried, this.method)
    }
  }
}
