/** The engine as a back-end of `terrace-core`: each call becomes a call of the addon. */

import { isPromise } from 'node:util/types'
import {
  type Backend,
  type BackendCondition,
  type BackendReadOptions,
  type Bytes,
  type CursorOptions,
  type CursorParts,
  codedError,
  type Operations,
  type RangeDeletion,
  type VersionedValue
} from 'terrace-core'
import { Flag, type LeftOutLog, type NativeDatabase } from './binding.js'
import { addConditions, argumentsOf, fitInCall } from './conditions.js'
import { binding } from './load-binding.js'
import { appendAll, inParts, MAX_SPREAD, valuesOf } from './many.js'
import { NativeBatch } from './native-batch.js'
import { NativeCursor } from './native-cursor.js'
import { NativeSnapshot } from './native-snapshot.js'
import { nativeOptions, type OpenOptions } from './options.js'
import { slab } from './slab.js'

export class NativeBackend implements Backend<NativeSnapshot> {
  readonly manifest = {
    encodings: { buffer: true, utf8: true, view: true },
    syncReads: true,
    syncWrites: true,
    conditionalWrites: true,
    versions: true,
    createIfMissing: true,
    errorIfExists: true
  }
  readonly #path: string
  /** The native database; null while it is not open. */
  #database: NativeDatabase | null = null

  /** The option `multithreading`: whether other instances in this process may have the same database open. */
  multithreading: boolean
  /** What the last open left out of the logs. */
  leftOut: readonly LeftOutLog[] = []
  /** Called with each of {@link leftOut}. */
  onLeftOut: (leftOut: LeftOutLog) => void = () => {}

  /** @param path - An absolute path, so that a change of the working directory does not matter. */
  constructor(path: string, multithreading: boolean) {
    this.#path = path
    this.multithreading = multithreading
  }

  /**
   * The native database.
   *
   * @throws LEVEL_DATABASE_NOT_OPEN if it is not open.
   */
  get database(): NativeDatabase {
    if (this.#database === null) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return this.#database
  }

  async open(options: OpenOptions): Promise<void> {
    this.multithreading = options.multithreading === true
    this.#database = await binding.open(this.#path, nativeOptions(options))
    this.leftOut = binding.leftOutLogs(this.#database)
    for (const log of this.leftOut) this.onLeftOut(log)
  }

  async close(): Promise<void> {
    const { database } = this
    this.#database = null
    this.leftOut = []
    await binding.close(database)
  }

  get(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: NativeSnapshot
  ): Bytes | undefined | Promise<Bytes | undefined> {
    return this.#get(key, readFlags(options, snapshot), snapshot)
  }

  getSync(key: Bytes, options: BackendReadOptions, snapshot?: NativeSnapshot): Bytes | undefined {
    return this.#get(key, readFlags(options, snapshot) | Flag.blocking, snapshot) as Bytes | undefined
  }

  #get(
    key: Bytes,
    flags: number,
    snapshot: NativeSnapshot | undefined
  ): Bytes | undefined | Promise<Bytes | undefined> {
    const { database } = this

    if ((flags & Flag.valuesAsBuffers) === 0) {
      return binding.get(database, key, flags, snapshot?.native) as
        | string
        | undefined
        | Promise<string | undefined>
    }

    const found = binding.get(database, key, flags, snapshot?.native, slab.memory(), slab.offset())
    return typeof found === 'number' ? slab.take(found) : found
  }

  getEntry(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: NativeSnapshot
  ): VersionedValue | undefined | Promise<VersionedValue | undefined> {
    return binding.getEntry(this.database, key, readFlags(options, snapshot), snapshot?.native)
  }

  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: NativeSnapshot
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    if (keys.length > MAX_SPREAD) {
      return inParts(this, keys, snapshot, (keys, snapshot) => this.getMany(keys, options, snapshot))
    }

    const flags = readFlags(options, snapshot)
    const found = binding.getMany(this.database, flags, snapshot?.native, ...keys)
    return isPromise(found) ? found.then(valuesOf) : valuesOf(found)
  }

  has(key: Bytes, options: BackendReadOptions, snapshot?: NativeSnapshot): boolean | Promise<boolean> {
    return binding.has(this.database, key, readFlags(options, snapshot), snapshot?.native)
  }

  hasMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: NativeSnapshot
  ): boolean[] | Promise<boolean[]> {
    if (keys.length > MAX_SPREAD) {
      return inParts(this, keys, snapshot, (keys, snapshot) => this.hasMany(keys, options, snapshot))
    }

    return binding.hasMany(this.database, readFlags(options, snapshot), snapshot?.native, ...keys)
  }

  put(key: Bytes, value: Bytes, sync: boolean): void | Promise<void> {
    return binding.put(this.database, key, value, sync ? Flag.sync : 0)
  }

  del(key: Bytes, sync: boolean): void | Promise<void> {
    return binding.del(this.database, key, sync ? Flag.sync : 0)
  }

  write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#write(operations, sync ? Flag.sync : 0)
  }

  writeSync(operations: Operations, sync: boolean): void {
    this.#write(operations, sync ? Flag.sync | Flag.blocking : Flag.blocking)
  }

  #write(operations: Operations, flags: number): void | Promise<void> {
    const { database } = this
    if (operations.length <= MAX_SPREAD) return binding.write(database, flags, ...operations)

    const batch = binding.batch(database)
    appendAll(batch, operations)
    return binding.batchWrite(batch, flags)
  }

  writeIf(
    conditions: ReadonlyArray<BackendCondition<NativeSnapshot>>,
    operations: Operations,
    sync: boolean
  ): void | Promise<void> {
    return this.#writeIf(conditions, operations, sync ? Flag.sync : 0)
  }

  writeIfSync(
    conditions: ReadonlyArray<BackendCondition<NativeSnapshot>>,
    operations: Operations,
    sync: boolean
  ): void {
    this.#writeIf(conditions, operations, sync ? Flag.sync | Flag.blocking : Flag.blocking)
  }

  #writeIf(
    conditions: ReadonlyArray<BackendCondition<NativeSnapshot>>,
    operations: Operations,
    flags: number
  ): void | Promise<void> {
    const { database } = this
    if (fitInCall(conditions, operations)) {
      return binding.writeIf(database, flags, conditions.length, ...argumentsOf(conditions), ...operations)
    }

    const batch = binding.batch(database)
    addConditions(conditions, (part) => binding.batchIf(batch, ...part))
    appendAll(batch, operations)
    return binding.batchWrite(batch, flags)
  }

  /** Reads and deletes the keys in batches, so a failure may leave some of them deleted. */
  clear(range: RangeDeletion, snapshot?: NativeSnapshot): Promise<void> {
    let flags = range.reverse ? Flag.reverse : 0
    if (snapshot !== undefined) flags |= Flag.snapshot
    return binding.clear(this.database, range, flags, range.limit, snapshot?.native)
  }

  batch(): NativeBatch {
    return new NativeBatch(this.database)
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: NativeSnapshot): NativeCursor {
    return new NativeCursor(this.database, options, parts, snapshot)
  }

  snapshot(): NativeSnapshot {
    return new NativeSnapshot(this.database)
  }
}

function readFlags(options: BackendReadOptions, snapshot: unknown): number {
  let flags = options.fillCache !== false ? Flag.fillCache : 0
  if (options.valueEncoding !== 'utf8') flags |= Flag.valuesAsBuffers
  if (snapshot !== undefined) flags |= Flag.snapshot
  return flags
}
