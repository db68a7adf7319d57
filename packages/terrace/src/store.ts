/** What a database and its sublevels share: the native database with its calls, the order of writes, and the hooks. */

import { isPromise } from 'node:util/types'
import { type Bytes, Flag, type NativeBatch, type NativeDatabase } from './binding.js'
import { codedError } from './errors.js'
import { KeySpaces } from './key-space.js'
import { binding } from './load-binding.js'
import { inParts, MAX_SPREAD, valuesOf } from './many.js'
import { identityOf, inFormat } from './operation-list.js'
import type { WriteOptions } from './operation-options.js'
import type { Database, Place } from './place.js'
import { slab } from './slab.js'
import { nativeSnapshot, type Snapshot } from './snapshot.js'
import { inTurn } from './turn.js'
import { WriteQueue } from './write-queue.js'

/** Options as abstract-level passes them to the private methods of reads. */
export interface PrivateReadOptions {
  fillCache?: boolean
  keyEncoding?: string
  valueEncoding?: string
  snapshot?: unknown
}

export class Store {
  readonly root: Database
  readonly keySpaces = new KeySpaces()
  readonly queue: WriteQueue
  /** Null while it is not open. */
  database: NativeDatabase | null = null
  /** Those to be closed when all that was written before is done. Until then nothing more is written there. */
  readonly closing = new Map<Place, Promise<void>>()
  /** How often something was written. */
  writes = 0

  constructor(root: Database) {
    this.root = root
    this.queue = new WriteQueue(this)
  }

  /** The native database, for methods that abstract-level calls only while it is open. */
  native(): NativeDatabase {
    if (this.database === null) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return this.database
  }

  get(
    key: Bytes,
    options: PrivateReadOptions,
    flags: number
  ): Bytes | undefined | Promise<Bytes | undefined> {
    const snapshot = nativeSnapshot(options.snapshot)
    const database = this.native()
    flags |= readFlags(options, snapshot)

    if ((flags & Flag.valuesAsBuffers) === 0) {
      return binding.get(database, key, flags, snapshot) as string | undefined | Promise<string | undefined>
    }

    const found = binding.get(database, key, flags, snapshot, slab.memory(), slab.offset())
    return typeof found === 'number' ? slab.take(found) : found
  }

  /** In a hook function it sees what earlier operations will have written. */
  getSync(key: Bytes, options: PrivateReadOptions): Bytes | undefined {
    const { running } = this.queue

    if (running !== null && (options.snapshot === undefined || options.snapshot === null)) {
      const value = running.find(identityOf(key))
      if (value !== undefined) return value === null ? undefined : inFormat(value, options.valueEncoding)
    }

    return this.get(key, options, Flag.blocking) as Bytes | undefined
  }

  getMany(
    db: { snapshot(): Snapshot },
    keys: Bytes[],
    options: PrivateReadOptions
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    if (keys.length > MAX_SPREAD) {
      return inParts(db, keys, options, (keys, options) => this.getMany(db, keys, options))
    }

    const snapshot = nativeSnapshot(options.snapshot)
    const found = binding.getMany(this.native(), readFlags(options, snapshot), snapshot, ...keys)
    return isPromise(found) ? found.then(valuesOf) : inTurn(valuesOf(found), keys.length)
  }

  has(key: Bytes, options: PrivateReadOptions): boolean | Promise<boolean> {
    const snapshot = nativeSnapshot(options.snapshot)
    const found = inTurn(binding.has(this.native(), key, readFlags(options, snapshot), snapshot))
    return referenced(options.snapshot, found)
  }

  hasMany(
    db: { snapshot(): Snapshot },
    keys: Bytes[],
    options: PrivateReadOptions
  ): boolean[] | Promise<boolean[]> {
    if (keys.length > MAX_SPREAD) {
      const found = inParts(db, keys, options, (keys, options) => this.hasMany(db, keys, options))
      return referenced(options.snapshot, found)
    }

    const snapshot = nativeSnapshot(options.snapshot)
    const found = binding.hasMany(this.native(), readFlags(options, snapshot), snapshot, ...keys)
    return referenced(options.snapshot, inTurn(found, keys.length))
  }

  put(key: Bytes, value: Bytes, flags: number): void | Promise<void> {
    return this.#written(binding.put(this.native(), key, value, flags))
  }

  del(key: Bytes, flags: number): void | Promise<void> {
    return this.#written(binding.del(this.native(), key, flags))
  }

  /** Writes operations, keys and values in turns, atomically. */
  write(flat: Array<Bytes | null>, flags: number): void | Promise<void> {
    const database = this.native()
    if (flat.length <= MAX_SPREAD) return this.#written(binding.write(database, flags, ...flat))

    const batch = binding.batch(database)
    appendAll(batch, flat)
    return this.#written(binding.batchWrite(batch, flags))
  }

  writeBatch(batch: NativeBatch, flags: number): void | Promise<void> {
    return this.#written(binding.batchWrite(batch, flags))
  }

  clear(options: PrivateClearOptions): Promise<void> {
    const snapshot = nativeSnapshot(options.snapshot)
    let flags = options.reverse ? Flag.reverse : 0
    if (snapshot !== undefined) flags |= Flag.snapshot
    const cleared = binding.clear(this.native(), options, flags, options.limit, snapshot)
    return this.#written(cleared) as Promise<void>
  }

  #written(waiting: void | Promise<void>): void | Promise<void> {
    this.writes++
    if (waiting !== undefined) this.queue.track(waiting)
    return waiting
  }
}

/** Options of `clear`, as abstract-level passes them to its private method. */
export interface PrivateClearOptions {
  gte?: Bytes
  gt?: Bytes
  lte?: Bytes
  lt?: Bytes
  reverse: boolean
  limit: number
  keyEncoding: string
  snapshot?: unknown
}

/** Adds operations, keys and values in turns, to a batch. */
export function appendAll(batch: NativeBatch, flat: Array<Bytes | null>): void {
  for (let i = 0; i < flat.length; i += MAX_SPREAD)
    binding.batchAppend(batch, ...flat.slice(i, i + MAX_SPREAD))
}

export function readFlags(options: PrivateReadOptions, snapshot: unknown): number {
  let flags = options.fillCache !== false ? Flag.fillCache : 0
  if (options.valueEncoding !== 'utf8') flags |= Flag.valuesAsBuffers
  if (snapshot !== undefined) flags |= Flag.snapshot
  return flags
}

export function writeFlags(options: WriteOptions | null | undefined): number {
  return options?.sync === true ? Flag.sync : 0
}

/** Keeps a snapshot open until a result is there, which abstract-level does not for `has()` and `hasMany()`. */
function referenced<T>(snapshot: unknown, result: T | Promise<T>): T | Promise<T> {
  if (snapshot === undefined || snapshot === null || !isPromise(result)) return result

  const held = snapshot as Snapshot
  held.ref()
  return result.finally(() => held.unref())
}
