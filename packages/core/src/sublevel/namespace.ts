/** A database or sublevel, as writes see it: its prefix, its parent, and the store of its root. */

import type { Bytes } from '../backend.js'
import { type Database, type HookedSpace, prefixed } from '../level/database.js'
import type { Store } from '../level/store.js'
import { noSpaces } from './key-space.js'

export class Namespace {
  readonly store: Store
  /** The database or sublevel that this namespace describes. */
  readonly owner: Database
  readonly parent: Namespace | null
  /** What its keys begin with in the root. */
  readonly prefix: string
  readonly #parentPrefix: string
  #spaces: readonly HookedSpace[] = noSpaces
  #version = 0

  constructor(store: Store, owner: Database, parent: Namespace | null, prefix: string) {
    this.store = store
    this.owner = owner
    this.parent = parent
    this.prefix = prefix
    this.#parentPrefix = parent?.prefix ?? ''
  }

  /** A key, which abstract-level has prefixed for the parent, as it is in the root. */
  rootKey(key: Bytes, format: string | undefined): Bytes {
    return this.#parentPrefix === '' ? key : prefixed(this.#parentPrefix, key, format as string)
  }

  rootKeys(keys: Bytes[], format: string | undefined): Bytes[] {
    return this.#parentPrefix === '' ? keys : keys.map((key) => this.rootKey(key, format))
  }

  /** The key spaces with functions of `everyWrite` that contain its keys, deepest first. */
  get spaces(): readonly HookedSpace[] {
    const { keySpaces } = this.store

    if (this.#version !== keySpaces.version) {
      this.#version = keySpaces.version
      this.#spaces = keySpaces.around(this.prefix)
    }

    return this.#spaces
  }

  /** Whether this object, or one that it was made from, is about to be closed. */
  get isClosing(): boolean {
    const { closing } = this.store
    if (closing.size === 0) return false
    return closing.has(this) || (this.parent?.isClosing ?? false)
  }

  /** Closes the object once all earlier writes are done. */
  close(close: () => Promise<void>): Promise<void> {
    const { closing, queue } = this.store
    const pending = closing.get(this)
    if (pending !== undefined) return pending
    if (queue.isFree) return close()

    const closed = queue
      .whenFree()
      .then(close)
      .finally(() => closing.delete(this))
    closing.set(this, closed)
    return closed
  }

  /** Opens the object. If `close` was called before, waits for that first. */
  open(open: () => Promise<void>): Promise<void> {
    const closed = this.store.closing.get(this)
    return closed === undefined ? open() : closed.then(open, open)
  }

  /** Whether this object, or one that it was made from, has hook functions or listeners to its writes. */
  get isWatched(): boolean {
    const { owner, parent } = this
    if (owner.hooks.prewrite.functions.length > 0 || owner.listenerCount('write') > 0) return true
    return parent?.isWatched ?? false
  }

  /** Whether a write here passes no hook function or listener, and need not wait for others. */
  get isPlain(): boolean {
    return this.store.queue.isFree && this.spaces.length === 0 && !this.isWatched
  }
}

/** The key spaces with functions of `everyWrite` around a sublevel. The sublevel may be of a class from elsewhere. */
export function spacesAround(store: Store, target: Database): readonly HookedSpace[] {
  return target.namespace?.spaces ?? store.keySpaces.around(target.prefix ?? '')
}

/**
 * Emits an event. If a listener of `write` or `clear` throws, its error is uncaught: it must not fail a write that is done.
 */
export function emitApart(event: string | symbol, emit: () => boolean): boolean {
  if (event !== 'write' && event !== 'clear') return emit()

  try {
    return emit()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
    return true
  }
}
