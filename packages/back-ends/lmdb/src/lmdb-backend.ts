/** LMDB as a back-end of `terrace-core`: each call becomes a call of lmdb. */

import { setImmediate as turn } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import {
  type Backend,
  type BackendManifest,
  type BackendReadOptions,
  BarrierQueue,
  type Bytes,
  type CursorOptions,
  type CursorParts,
  clearKeys,
  codedError,
  type Operations,
  type RangeDeletion
} from 'terrace-core'
import { type LmdbStore, openStore, type ReadOptions } from './binding.js'
import { answered, ConditionalWrite } from './conditional-writes.js'
import type { GivenCondition } from './conditions.js'
import { prepare, type Wanted } from './directory.js'
import { isOpenToRead, lmdbError, openToReadError, translated } from './errors.js'
import { fits, KeyCodec } from './keys.js'
import { LmdbCursor } from './lmdb-cursor.js'
import { LmdbSnapshot } from './lmdb-snapshot.js'
import { openings } from './openings.js'
import { apply, checkKeys, copyOf, inOrder } from './operations.js'
import { checkOptions, DEFAULT_MAX_READERS, type OpenOptions } from './options.js'
import { textOf } from './text.js'

export class LmdbBackend implements Backend<LmdbSnapshot> {
  readonly manifest: BackendManifest
  readonly #path: string
  readonly #isShared: boolean
  readonly #codec = new KeyCodec()
  /** lmdb preserves the order of all writes except clears, which read what they delete. */
  readonly #order = new BarrierQueue()
  #store: LmdbStore | null = null
  #isReadOnly = false
  /** Whether other processes may have written, so that each read must use the newest state. */
  #othersWrite = false
  /** lmdb's promise for its next transaction, and the promise derived from it. */
  #commit: Promise<boolean> | undefined
  #committed: Promise<void> | undefined
  /** The conditional writes that will share a synchronous transaction, while no other write has been called after them. */
  #group: { readonly writes: ConditionalWrite[]; readonly done: Promise<void> } | undefined

  /** @param path - An absolute path, so that a change of the working directory has no effect. */
  constructor(path: string, shared: boolean) {
    this.#path = path
    this.#isShared = shared
    this.manifest = {
      encodings: { buffer: true, utf8: true, view: true },
      syncReads: true,
      conditionalWrites: true,
      shared,
      createIfMissing: true,
      errorIfExists: true
    }
  }

  open(options: OpenOptions & Wanted): Promise<void> {
    return answered.barrier(() => this.#open(options))
  }

  #open(options: OpenOptions & Wanted): void {
    checkOptions(options)
    prepare(this.#path, options)
    this.#isReadOnly = options.readOnly === true
    this.#othersWrite = this.#isShared || this.#isReadOnly
    // Checked first, because lmdb counts even an opening that fails.
    if (!this.#isReadOnly && openings.isReadOnly(this.#path)) throw openToReadError(this.#path)

    try {
      this.#store = openStore(this.#path, {
        keyEncoder: this.#codec,
        readOnly: this.#isReadOnly,
        maxReaders: options.maxReaders ?? DEFAULT_MAX_READERS
      })
    } catch (error) {
      throw isOpenToRead(error) ? openToReadError(this.#path, error) : translated(error, this.#path)
    }
    openings.add(this.#path, this.#isReadOnly)
    this.#enlist()
  }

  /** Reads once. From then on, LMDB lists this process among those that have the database open. */
  #enlist(): void {
    try {
      exists(this.#opened, 'any', undefined)
    } catch {
      // The table of readers may be full. Only `destroy()` depends on it.
    }
  }

  async close(): Promise<void> {
    await this.#order.whenIdle()
    const store = this.#opened
    this.#store = null
    try {
      await store.close()
    } catch (error) {
      throw translated(error, this.#path)
    } finally {
      openings.remove(this.#path)
    }
  }

  get #opened(): LmdbStore {
    if (this.#store === null) throw codedError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
    return this.#store
  }

  /** The store for a read without a snapshot: at the newest state, possibly another process's. */
  #newest(): LmdbStore {
    const store = this.#opened
    if (this.#othersWrite) store.resetReadTxn()
    return store
  }

  /** Runs a read, and translates errors of lmdb. */
  #reading<T>(snapshot: LmdbSnapshot | undefined, read: (store: LmdbStore, options?: ReadOptions) => T): T {
    const store = snapshot === undefined ? this.#newest() : this.#opened
    try {
      return read(store, snapshot)
    } catch (error) {
      throw translated(error, this.#path)
    }
  }

  get(key: Bytes, { valueEncoding }: BackendReadOptions, snapshot?: LmdbSnapshot): Bytes | undefined {
    return this.#reading(snapshot, (store, state) => find(store, key, valueEncoding, state))
  }

  getSync(key: Bytes, options: BackendReadOptions, snapshot?: LmdbSnapshot): Bytes | undefined {
    return this.get(key, options, snapshot)
  }

  getMany(
    keys: Bytes[],
    { valueEncoding }: BackendReadOptions,
    snapshot?: LmdbSnapshot
  ): Array<Bytes | undefined> {
    return this.#reading(snapshot, (store, state) =>
      keys.map((key) => find(store, key, valueEncoding, state))
    )
  }

  has(key: Bytes, _options: BackendReadOptions, snapshot?: LmdbSnapshot): boolean {
    return this.#reading(snapshot, (store, state) => exists(store, key, state))
  }

  hasMany(keys: Bytes[], _options: BackendReadOptions, snapshot?: LmdbSnapshot): boolean[] {
    return this.#reading(snapshot, (store, state) => keys.map((key) => exists(store, key, state)))
  }

  cursor(options: CursorOptions, parts: CursorParts, snapshot?: LmdbSnapshot): LmdbCursor {
    return this.#reading(snapshot, (store) => new LmdbCursor(store, this.#codec, options, parts, snapshot))
  }

  snapshot(): LmdbSnapshot {
    return this.#reading(undefined, (store) => new LmdbSnapshot(store))
  }

  put(key: Bytes, value: Bytes): Promise<void> {
    return this.write([key, value])
  }

  del(key: Bytes): Promise<void> {
    return this.write([key, null])
  }

  /** Every commit is flushed before it is acknowledged, with or without the option `sync`. */
  write(operations: Operations): Promise<void> {
    this.#assertWritable()
    checkKeys(operations)
    if (operations.length === 0) return this.#committed ?? Promise.resolve()
    this.#group = undefined

    if (this.#order.isFree) return this.#submit(operations)
    const kept = operations.map((part) => (part === null ? null : copyOf(part)))
    return this.#order.run(() => this.#submit(kept))
  }

  /** Passes operations to lmdb, whose thread combines all waiting ones into one transaction. */
  #submit(operations: Operations): Promise<void> {
    const store = this.#opened
    if (operations.length > 2) return this.#submitMany(store, operations)
    const [key, value] = operations as [Bytes, Bytes | null]
    return this.#acknowledged(value === null ? store.remove(key) : store.put(key, copyOf(value)))
  }

  #submitMany(store: LmdbStore, operations: Operations): Promise<void> {
    const sorted = inOrder(operations)
    return this.#acknowledged(store.batch(() => apply(store, sorted)))
  }

  /** The promise for users. Calls that share a transaction share it. */
  #acknowledged(commit: Promise<boolean>): Promise<void> {
    if (commit !== this.#commit || this.#committed === undefined) {
      this.#commit = commit
      this.#committed = commit.then(nothing, (error) => this.#fail(error))
      this.#order.track(this.#committed)
    }
    return this.#committed
  }

  /** lmdb reports a failed commit in two steps. */
  async #fail(error: Error & { commitError?: Promise<void> }): Promise<never> {
    let reason: unknown = error
    try {
      await error.commitError
    } catch (cause) {
      reason = cause
    }
    throw translated(reason, this.#path)
  }

  /** Checks and writes within a transaction; see {@link ConditionalWrite}. */
  writeIf(conditions: readonly GivenCondition[], operations: Operations): Promise<void> {
    this.#assertWritable()
    checkKeys(operations)
    const write = new ConditionalWrite(conditions, operations)
    if (isMainThread) return this.#writeInGroup(write)
    if (!(this.#order.isFree && answered.isFree)) {
      return this.#order.barrier(() => answered.run(() => this.#submitIf(write)))
    }
    const written = this.#submitIf(write)
    this.#order.track(written)
    answered.track(written)
    return written
  }

  async #submitIf(write: ConditionalWrite): Promise<void> {
    await write.submit(this.#opened, this.#codec).catch((error) => this.#fail(error))
    write.assertDone()
  }

  async #writeInGroup(write: ConditionalWrite): Promise<void> {
    this.#group ??= this.#newGroup()
    this.#group.writes.push(write)
    await this.#group.done
    write.assertDone()
  }

  /** The transaction blocks this thread, so timers and input have their turn before it. */
  #newGroup(): { writes: ConditionalWrite[]; done: Promise<void> } {
    const writes: ConditionalWrite[] = []
    const done = this.#order.barrier(async () => {
      await turn()
      if (this.#group?.writes === writes) this.#group = undefined
      this.#writeTogether(writes)
    })
    return { writes, done }
  }

  #writeTogether(writes: readonly ConditionalWrite[]): void {
    const store = this.#opened
    try {
      store.transactionSync(() => {
        for (const write of writes) write.write(store, this.#codec)
      })
    } catch (error) {
      throw translated(error, this.#path)
    }
  }

  /** Reads and deletes the keys in several transactions, so a failure may leave some of them deleted. */
  clear(range: RangeDeletion, snapshot?: LmdbSnapshot): Promise<void> {
    this.#assertWritable()
    this.#group = undefined
    return this.#order.barrier(() => this.#clear(range, snapshot))
  }

  #clear(range: RangeDeletion, snapshot: LmdbSnapshot | undefined): Promise<void> {
    const cursor = this.cursor({ ...range, keyEncoding: 'view' }, 'keys', snapshot)
    return clearKeys(cursor, range.limit, (keys) => this.#submit(keys.flatMap((key) => [key, null])))
  }

  #assertWritable(): void {
    if (!this.#isReadOnly) return
    throw lmdbError('LEVEL_READ_ONLY', "Database was opened with 'readOnly'", this.#path)
  }
}

function find(
  store: LmdbStore,
  key: Bytes,
  format: string | undefined,
  options: ReadOptions | undefined
): Bytes | undefined {
  if (!fits(key)) return undefined
  if (format !== 'utf8') return store.getBinary(key, options)
  const value = store.getBinaryFast(key, options)
  return value === undefined ? undefined : textOf(value, 0, store.lastSize)
}

function exists(store: LmdbStore, key: Bytes, options: ReadOptions | undefined): boolean {
  return fits(key) && store.getBinaryFast(key, options) !== undefined
}

function nothing(): void {}
