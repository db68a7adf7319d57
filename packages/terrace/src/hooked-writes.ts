/**
 * Operations on their way through the hook functions and to the listeners that see them. Each goes from the key space that
 * it was given to up to the root, and every function and listener sees it in the terms of its own.
 */

import type { Bytes } from './binding.js'
import { codedError } from './errors.js'
import type { HookedSpace, PrewriteBatch, Registration } from './key-space.js'
import { identityOf, OperationList } from './operation-list.js'
import { type Database, type Encoder, type Place, prefixed, spacesAround } from './place.js'

/** An operation as users pass it. */
export interface PublicOperation {
  type: string
  key: unknown
  value?: unknown
  keyEncoding?: unknown
  valueEncoding?: unknown
  sublevel?: Database | null | undefined
}

/** So often may an operation that a hook function adds lead to another one. */
const MAX_DEPTH = 8

/** An operation, and in whose terms it is. */
interface Carried {
  readonly operation: PublicOperation
  readonly type: string
  /** Whose encodings count. */
  target: Database
  /** Of the key space in whose terms the operation is. */
  prefix: string
  /** Whether it was given with the option `sublevel`. */
  readonly delegated: boolean
  /** Where functions without `everyWrite` see it: in the key spaces around this one. */
  readonly via: string
  /** The key space whose function added it; that one's functions do not see it. */
  readonly addedBy: string | null
  readonly depth: number
  /** Its place among the added ones, or -1. */
  readonly index: number
  encodedKey: Bytes | undefined
  encodedValue: Bytes | undefined
}

/** Who listens to `write`, and what there will be to hear. */
interface Listener {
  readonly place: Place
  readonly given: object[]
  readonly added: object[]
}

export interface HookedWritesOptions {
  /** Operations of other calls that will be written in the same batch, before these. */
  before?: OperationList | null
  /** Functions without `everyWrite` that were added later do not count. */
  latest?: number
  /** Whether there is no event `write`. */
  isSilent?: boolean
}

/** The operations of one call. */
export class HookedWrites {
  readonly #place: Place
  readonly #before: OperationList | null
  readonly #latest: number
  readonly #given = new OperationList()
  readonly #added = new OperationList()
  readonly #waiting: Carried[] = []
  #next = 0
  #carried: Carried | null = null
  readonly #listeners: Listener[] | null
  /** Whether a function has read. */
  hasRead = false

  /** Of the call, for its errors. */
  method: string

  constructor(place: Place, method: string, { before, latest, isSilent }: HookedWritesOptions = {}) {
    this.#place = place
    this.method = method
    this.#before = before ?? null
    this.#latest = latest ?? Infinity
    this.#listeners = isSilent === true ? null : listenersOf(place)
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
   */
  take(operation: PublicOperation, owner = this.#place.owner, via = this.#place.prefix): void {
    const carried = this.#check(operation, owner, via, null, 0, -1)
    const given = this.#given.length
    const added = this.#added.length
    const heard = this.#listeners?.map(({ given, added }) => [given.length, added.length] as const)

    try {
      this.#carry(carried)
      while (this.#next < this.#waiting.length) this.#carry(this.#waiting[this.#next++] as Carried)
    } catch (error) {
      this.#given.truncate(given)
      this.#added.truncate(added)
      this.#listeners?.forEach(({ given, added }, index) => {
        ;[given.length, added.length] = heard?.[index] as readonly [number, number]
      })
      throw error
    } finally {
      this.#waiting.length = this.#next = 0
      this.#carried = null
    }
  }

  clear(): void {
    this.#given.truncate(0)
    this.#added.truncate(0)
    this.#waiting.length = this.#next = 0
    for (const { given, added } of this.#listeners ?? []) given.length = added.length = 0
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
    if (this.#listeners === null) return

    for (const { place, given, added } of this.#listeners.toReversed()) {
      if (given.length + added.length > 0) place.owner.emit('write', given.concat(added))
    }
  }

  /** @internal */
  add(operation: PublicOperation, by: HookedSpace, owner: Database, depth: number): void {
    if (depth > MAX_DEPTH) {
      throw codedError(
        'LEVEL_HOOK_RECURSION',
        `Prewrite hook functions add operations for each other without end: ${MAX_DEPTH} deep`
      )
    }

    const carried = this.#check({ ...operation }, owner, by.prefix, by.prefix, depth, this.#added.length)
    const key = this.#rootKey(carried)
    this.#added.push(key, carried.encodedValue ?? null)
    this.#waiting.push(carried)
  }

  #check(
    operation: PublicOperation,
    owner: Database,
    via: string,
    addedBy: string | null,
    depth: number,
    index: number
  ): Carried {
    const delegated = operation.sublevel !== undefined && operation.sublevel !== null
    const target = delegated ? (operation.sublevel as Database) : owner
    if (delegated) this.#assertWithin(target)

    target._assertValidKey(operation.key)
    operation.keyEncoding = target.keyEncoding(operation.keyEncoding)
    const { type } = operation

    if (type === 'put') {
      target._assertValidValue(operation.value)
      operation.valueEncoding = target.valueEncoding(operation.valueEncoding)
    } else if (type !== 'del') {
      throw new TypeError("A batch operation must have a type property that is 'put' or 'del'")
    }

    return {
      operation,
      type,
      target,
      prefix: target.prefix ?? '',
      delegated,
      via,
      addedBy,
      depth,
      index,
      encodedKey: undefined,
      encodedValue: undefined
    }
  }

  #assertWithin(target: Database): void {
    const root = this.#place.store.root
    if (target !== root && target.db !== root) {
      throw codedError('LEVEL_INVALID_ARGUMENT', "The option 'sublevel' must be a sublevel of this database")
    }
  }

  #carry(carried: Carried): void {
    const spaces = spacesAround(this.#place.store, carried.target)

    // Nothing remains to be done for one that was encoded when it was added.
    if (carried.index >= 0 && spaces.length === 0 && this.#listeners === null) return

    this.#carried = carried

    if (this.#listeners === null) {
      for (const space of spaces) this.#visit(space, carried)
    } else {
      this.#visitAll(spaces, this.#listeners, carried)
    }

    const key = this.#rootKey(carried)
    if (carried.index < 0) this.#given.push(key, carried.encodedValue ?? null)
    else this.#added.set(carried.index, key, carried.encodedValue ?? null)
  }

  /** Visits key spaces and listeners, the deepest first, and where both are, the key space first. */
  #visitAll(spaces: readonly HookedSpace[], listeners: readonly Listener[], carried: Carried): void {
    const prefix = carried.prefix
    let next = 0

    for (const listener of listeners) {
      const depth = listener.place.prefix.length
      for (; next < spaces.length && (spaces[next] as HookedSpace).prefix.length >= depth; next++) {
        this.#visit(spaces[next] as HookedSpace, carried)
      }

      const from = carried.addedBy ?? prefix
      if (prefix.startsWith(listener.place.prefix) && from.startsWith(listener.place.prefix)) {
        this.#note(listener, carried)
      }
    }

    for (; next < spaces.length; next++) this.#visit(spaces[next] as HookedSpace, carried)
  }

  /** Has the functions of a key space see an operation. */
  #visit(space: HookedSpace, carried: Carried): void {
    const { prefix } = space
    if (prefix === carried.addedBy) return

    const { operation } = carried
    const isNear = carried.via.startsWith(prefix)
    let adding: Adding | undefined

    for (const registration of space.functions) {
      if (!registration.everyWrite && !(isNear && registration.order <= this.#latest)) continue

      if (adding === undefined) {
        // The database of the call sees an operation as it was given, with its sublevel.
        const isGiven = prefix === this.#place.prefix && carried.delegated && carried.index < 0
        if (prefix !== carried.prefix && !(isGiven && operation.sublevel === carried.target)) {
          this.#rebase(carried, prefix, registration.owner)
        }
        adding = new Adding(this, space, carried.depth + 1)
      }

      this.#run(registration, adding, carried)
    }

    adding?.close()
  }

  #run(registration: Registration, adding: Adding, carried: Carried): void {
    const { operation, type, target } = carried

    try {
      adding.call(registration, operation)
      operation.type = type
      operation.keyEncoding = target.keyEncoding(operation.keyEncoding)
      if (type === 'put') operation.valueEncoding = target.valueEncoding(operation.valueEncoding)
    } catch (cause) {
      adding.close()
      throw Object.assign(codedError('LEVEL_HOOK_ERROR', `The prewrite hook failed on ${this.method}()`), {
        cause
      })
    }

    carried.encodedKey = carried.encodedValue = undefined
  }

  /** Brings an operation into the terms of a key space around its own: encoded, and with what remains of the prefix. */
  #rebase(carried: Carried, prefix: string, target: Database): void {
    const { operation } = carried
    this.#encode(carried)
    const keyFormat = (operation.keyEncoding as Encoder).format
    const key = prefixed(carried.prefix.slice(prefix.length), carried.encodedKey as Bytes, keyFormat)

    operation.key = carried.encodedKey = key
    operation.keyEncoding = target.keyEncoding(keyFormat)

    if (carried.type === 'put') {
      operation.value = carried.encodedValue
      operation.valueEncoding = target.valueEncoding((operation.valueEncoding as Encoder).format)
    }

    if (carried.delegated) operation.sublevel = null
    carried.prefix = prefix
    carried.target = target
  }

  #encode(carried: Carried): void {
    if (carried.encodedKey !== undefined) return
    const { operation } = carried
    carried.encodedKey = (operation.keyEncoding as Encoder).encode(operation.key)
    if (carried.type === 'put') {
      carried.encodedValue = (operation.valueEncoding as Encoder).encode(operation.value)
    }
  }

  #rootKey(carried: Carried): Bytes {
    this.#encode(carried)
    const { format } = carried.operation.keyEncoding as Encoder
    return prefixed(carried.prefix, carried.encodedKey as Bytes, format)
  }

  /** Notes an operation for a listener. One on a sublevel is shown as what it is for the listener's database. */
  #note(listener: Listener, carried: Carried): void {
    const { owner, prefix } = listener.place

    if (carried.prefix !== prefix || (carried.delegated && carried.operation.sublevel !== null)) {
      this.#rebase(carried, prefix, owner)
    }

    this.#encode(carried)
    const { encodedKey, encodedValue } = carried
    const event: object =
      carried.type === 'put'
        ? { ...carried.operation, encodedKey, encodedValue }
        : { ...carried.operation, encodedKey }
    const list = carried.index < 0 ? listener.given : listener.added
    list.push(event)
  }
}

/** What a hook function gets to add operations with, while it runs. */
class Adding implements PrewriteBatch {
  readonly #writes: HookedWrites
  readonly #space: HookedSpace
  readonly #depth: number
  #owner: Database | null = null

  constructor(writes: HookedWrites, space: HookedSpace, depth: number) {
    this.#writes = writes
    this.#space = space
    this.#depth = depth
  }

  add(operation: object): this {
    if (this.#owner === null) {
      throw codedError('LEVEL_BATCH_NOT_OPEN', 'A hook function cannot add operations after it has returned')
    }

    this.#writes.add(operation as PublicOperation, this.#space, this.#owner, this.#depth)
    return this
  }

  call(registration: Registration, operation: object): void {
    this.#owner = registration.owner
    const result = registration.run(operation, this) as unknown
    if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') refusePromise(result)
  }

  close(): void {
    this.#owner = null
  }
}

function refusePromise(result: unknown): never {
  // What becomes of it is of no interest to anybody.
  Promise.resolve(result).catch(() => {})
  throw new TypeError('A prewrite hook function must not return a promise: it has to be done when it returns')
}

function listenersOf(place: Place): Listener[] | null {
  let listeners: Listener[] | null = null

  for (let at: Place | null = place; at !== null; at = at.parent) {
    if (at.owner.listenerCount('write') === 0) continue
    listeners ??= []
    listeners.push({ place: at, given: [], added: [] })
  }

  return listeners
}
