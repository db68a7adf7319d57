/** Where a database or sublevel stands: its prefix, its parent, and the store of its root. */

import type { Transcoder } from 'abstract-level'
import type { Bytes } from './binding.js'
import { type HookedSpace, noSpaces, type PrewriteHook } from './key-space.js'
import type { Store } from './store.js'

export type Encoder = Pick<Transcoder.Encoding<unknown, Bytes, unknown>, 'encode' | 'decode' | 'format'>

/** What of a database or sublevel is used here; the types of abstract-level lack some of it. */
export interface Database {
  /** Only those of this package have it. */
  readonly place?: Place
  /** Of a sublevel: the database that it is in. */
  readonly db?: unknown
  /** Of a sublevel: what it was made from. */
  readonly parent?: Database | null
  /** Of a sublevel. */
  readonly prefix?: string
  readonly status: string
  readonly hooks: { prewrite: PrewriteHook }
  _assertValidKey(key: unknown): void
  _assertValidValue(value: unknown): void
  keyEncoding(encoding: unknown): Encoder
  valueEncoding(encoding: unknown): Encoder
  listenerCount(event: string): number
  emit(event: string, ...args: unknown[]): boolean
  deferAsync<T>(work: () => Promise<T>): Promise<T>
}

export class Place {
  readonly store: Store
  /** The database or sublevel that stands here. */
  readonly owner: Database
  readonly parent: Place | null
  /** What the keys begin with in the root. */
  readonly prefix: string
  #spaces: readonly HookedSpace[] = noSpaces
  #version = 0

  constructor(store: Store, owner: Database, parent: Place | null, prefix: string) {
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
  return target.place?.spaces ?? store.keySpaces.around(target.prefix ?? '')
}

/** Whether an object is another one, or was made from it. */
export function isWithin(owner: Database, other: Database): boolean {
  for (let at: Database | null | undefined = owner; at != null; at = at.parent) if (at === other) return true
  return false
}

/** A key with a prefix, which is ASCII. */
export function prefixed(prefix: string, key: Bytes, format: string): Bytes {
  if (typeof key === 'string') return prefix + key
  if (prefix === '') return key

  const length = prefix.length + key.byteLength
  const result = format === 'view' ? new Uint8Array(length) : Buffer.allocUnsafe(length)
  for (let i = 0; i < prefix.length; i++) result[i] = prefix.charCodeAt(i)
  result.set(key, prefix.length)
  return result
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
