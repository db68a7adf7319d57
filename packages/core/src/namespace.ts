/** A database or sublevel, as writes see it: its prefix, its parent, and the store of its root. */

import type { Database, HookedSpace } from './database.js'
import { noSpaces } from './key-space.js'
import type { Store } from './store.js'

export class Namespace {
  readonly store: Store
  /** The database or sublevel that this is the namespace of. */
  readonly owner: Database
  readonly parent: Namespace | null
  /** What the keys begin with in the root. */
  readonly prefix: string
  #spaces: readonly HookedSpace[] = noSpaces
  #version = 0

  constructor(store: Store, owner: Database, parent: Namespace | null, prefix: string) {
    this.store = store
    this.owner = owner
    this.parent = parent
    this.prefix = prefix
  }

  /** The key spaces with functions of `everyWrite` that its keys lie in, the deepest first. */
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

  /** Closes it when all that was written before is done. */
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

  /** Opens it, after it was closed if that was called before. */
  open(open: () => Promise<void>): Promise<void> {
    const closed = this.store.closing.get(this)
    return closed === undefined ? open() : closed.then(open, open)
  }

  /** Whether this object, or one that it was made from, has hook functions of its own or somebody listens to its writes. */
  get isWatched(): boolean {
    const { owner, parent } = this
    if (owner.hooks.prewrite.functions.length > 0 || owner.listenerCount('write') > 0) return true
    return parent?.isWatched ?? false
  }

  /** Whether a write here passes no hook function and no listener, and need not wait for others. */
  get isPlain(): boolean {
    return this.store.queue.isFree && this.spaces.length === 0 && !this.isWatched
  }
}

/** The key spaces with functions of `everyWrite` around a sublevel, which somebody else's class may have made. */
export function spacesAround(store: Store, target: Database): readonly HookedSpace[] {
  return target.namespace?.spaces ?? store.keySpaces.around(target.prefix ?? '')
}

/** Emits an event. What a listener of `write` or `clear` throws is uncaught: it must not fail what is done already. */
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
