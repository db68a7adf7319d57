/** LMDB as a back-end of `terrace-core`: each call becomes a call of lmdb. */

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
import { prepare, type Wanted } from './directory.js'
import { isOpenToRead, lmdbError, openToReadError, translated } from './errors.js'
import { checkKey, fits, KeyCodec, StoredKey } from './keys.js'
import { LmdbCursor } from './lmdb-cursor.js'
import { LmdbSnapshot } from './lmdb-snapshot.js'
import { openings } from './openings.js'
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

  /** @param path - An absolute path, so that a change of the working directory has no effect. */
  constructor(path: string, shared: boolean) {
    this.#path = path
    this.#isShared = shared
    this.manifest = {
      encodings: { buffer: true, utf8: true, view: true },
      syncReads: true,
      shared,
      createIfMissing: true,
      errorIfExists: true
    }
  }

  open(options: OpenOptions & Wanted): void {
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
    // lmdb cannot undo part of a transaction, so nothing may fail once it has begun.
    for (let i = 0; i < operations.length; i += 2) checkKey(operations[i] as Bytes)
    if (operations.length === 0) return this.#committed ?? Promise.resolve()

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
    return this.#acknowledged(
      store.batch(() => {
        for (const { key, value } of sorted) {
          if (value === null) store.remove(key as never)
          else store.put(key as never, value)
        }
      })
    )
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

  /** Reads and deletes the keys in several transactions, so a failure may leave some of them deleted. */
  clear(range: RangeDeletion, snapshot?: LmdbSnapshot): Promise<void> {
    this.#assertWritable()
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

/** Copies bytes: lmdb reads them on another thread, possibly after their owner has reused them. */
function copyOf(bytes: Bytes): Buffer {
  return Buffer.from(bytes as Uint8Array)
}

interface Operation {
  readonly key: StoredKey
  readonly value: Buffer | null
}

/** Sorts operations by key, the order in which LMDB writes fastest. Those of the same key keep their order. */
function inOrder(operations: Operations): Operation[] {
  const sorted: Operation[] = []
  for (let i = 0; i < operations.length; i += 2) {
    const value = operations[i + 1] as Bytes | null
    sorted.push({
      key: StoredKey.of(operations[i] as Bytes),
      value: value === null ? null : copyOf(value)
    })
  }
  return sorted.sort((a, b) => a.key.bytes.compare(b.key.bytes))
}

function nothing(): void {}
