/**
 * What a store must offer so that {@link BackendLevel} can make a database of it: ordered keys and values as bytes, batches,
 * cursors and snapshots. Hooks, sublevels, events, encodings and the order of hooked writes are built above it.
 *
 * These rules hold for every method:
 *
 * - *Values and promises.* A method whose result is `T | Promise<T>` returns the value itself if it need not wait, which is the
 *   fast path. It may throw or reject; both mean the same, except where a method says otherwise.
 * - *Bytes.* Keys and values come in the formats that {@link BackendManifest.encodings} declares: a string without half a
 *   surrogate pair for `utf8`, a `Buffer` for `buffer`, any `Uint8Array` for `view`. They are never another kind of view, and
 *   never over memory that threads share. Results have the format that the options name. Keys are ordered by their bytes,
 *   unless the user has chosen another order.
 * - *Ownership.* Arguments belong to the caller again when the method has returned, even if its promise is still pending. A
 *   back-end that still needs the bytes after that copies them first. Results belong to the caller.
 * - *Visibility.* A read sees every write that was acknowledged (that has returned, or whose promise has resolved) before the
 *   read was called. It may also see writes that are still pending, but never a part of one.
 * - *Errors.* They reach the user unchanged. They are instances of `Error`, with a `code` such as `LEVEL_IO_ERROR`.
 * - *Life.* No method other than `open()` is called before `open()` has succeeded or after `close()` was called.
 */

/** A key or a value in one of the three formats of abstract-level: utf8, buffer or view. */
export type Bytes = string | Uint8Array

/** The names of these formats. */
export type Format = 'utf8' | 'buffer' | 'view'

/** Keys and values alternate, in the order in which the operations take effect. The value of a key to delete is null. */
export type Operations = ReadonlyArray<Bytes | null>

/** What a back-end declares about itself. It becomes a part of the database's manifest, `db.supports`. */
export interface BackendManifest {
  /**
   * The formats that the back-end takes and returns. `buffer` or `view` must be among them, since not all bytes are text. Data
   * that users pass in another format is converted.
   */
  readonly encodings: { readonly [name in Format]?: boolean }
  /**
   * Whether the back-end can read within a call, blocking the thread if it must. If so, it has {@link Backend.getSync}, and its
   * cursors have {@link BackendCursor.readSync}. If not, `getSync()` and loops without `await` fail with LEVEL_NOT_SUPPORTED.
   *
   * @defaultValue `false`
   */
  readonly syncReads?: boolean
  /**
   * Whether the back-end can write within a call, blocking the thread if it must. If so, it has {@link Backend.writeSync}, and
   * its batches have {@link BackendBatch.writeSync}. If not, `putSync()` and the like fail with LEVEL_NOT_SUPPORTED.
   *
   * @defaultValue `false`
   */
  readonly syncWrites?: boolean
  /**
   * Whether data survives the end of the process.
   *
   * @defaultValue `true`
   */
  readonly permanence?: boolean
  /**
   * Whether others write to the store as well, unseen by this database. Then no hook sees every write, and
   * `db.supports.everyWrite` is false.
   *
   * @defaultValue `false`
   */
  readonly shared?: boolean
  /** Whether `open()` honours the option `createIfMissing`. */
  readonly createIfMissing?: boolean
  /** Whether `open()` honours the option `errorIfExists`. */
  readonly errorIfExists?: boolean
}

/** Options of reads. They may include other options of abstract-level, which the back-end ignores. */
export interface BackendReadOptions {
  /** Whether to keep what was read in a cache, if there is one. If undefined, the back-end decides. */
  readonly fillCache?: boolean
  /** The format of the keys that are returned. */
  readonly keyEncoding?: string
  /** The format of the values that are returned. */
  readonly valueEncoding?: string
}

/** The bounds of a range. `gte` takes precedence over `gt`, and `lte` over `lt`. */
export interface Range {
  /** The first key, included. */
  gte?: Bytes | undefined
  /** The first key, excluded. */
  gt?: Bytes | undefined
  /** The last key, included. */
  lte?: Bytes | undefined
  /** The last key, excluded. */
  lt?: Bytes | undefined
}

/** The range that a cursor walks over, and how it does so. */
export interface CursorOptions extends Range, BackendReadOptions {
  /** Whether to walk from the last key to the first. */
  readonly reverse: boolean
}

/** What a cursor yields for each entry. */
export type CursorParts = 'keys' | 'values' | 'entries'

/** A range whose keys are to be deleted. */
export interface RangeDeletion extends Range {
  /** Whether the limit counts from the last key backwards. */
  readonly reverse: boolean
  /** The largest number of keys to delete. A negative number means no limit. */
  readonly limit: number
}

/**
 * What a cursor has read, as one array: whether the end was reached, a buffer, then the parts: keys, values, or both
 * alternating. A part that is a number stands for the next piece of the buffer, and gives its length in bytes. A thousand
 * entries can therefore come in one piece of memory.
 */
export type Page = readonly [
  ended: boolean,
  pieces: Uint8Array | undefined,
  ...parts: Array<Bytes | number | undefined>
]

/** A position within a range of the database, as it was when the cursor was made. Later writes do not show. */
export interface BackendCursor {
  /**
   * Reads the next `size` entries, or all that are left. Stops early once keys and values exceed `highWaterMarkBytes`, but
   * never before the first entry. Not called again before its promise has settled.
   */
  read(size: number, highWaterMarkBytes: number): Page | Promise<Page>

  /** Like {@link read}, but within the call. See {@link BackendManifest.syncReads}. */
  readSync?(size: number, highWaterMarkBytes: number): Page

  /**
   * Makes the next read begin with the first key that is not before `target`, in the order of the cursor. If the target is
   * outside the range in that direction, nothing is left to read.
   */
  seek(target: Bytes): void

  /** Ends a running read early. The read's result is not used; it may reject. */
  abort?(): void

  /** Releases what the cursor holds. Called once. A read may still be running; its result is not used. */
  close(): void | Promise<void>
}

/** A state of the store to read from later. */
export interface BackendSnapshot {
  /** Releases what the snapshot holds. Called once. A read from it may still be running; its result is not used. */
  close(): void | Promise<void>
}

/** Operations that the back-end collects itself. All methods except `write` have finished when they return. */
export interface BackendBatch {
  /** Adds an operation that stores a value. */
  put(key: Bytes, value: Bytes): void
  /** Adds an operation that deletes a key. */
  del(key: Bytes): void
  /** Adds operations in order. */
  append(operations: Operations): void
  /** Removes all operations. */
  clear(): void
  /** Writes the operations like {@link Backend.write}. Called once. */
  write(sync: boolean): void | Promise<void>
  /** Writes the operations like {@link Backend.writeSync}. Called at most once, instead of {@link write}. */
  writeSync?(sync: boolean): void
  /** Releases what the batch holds, whether it was written or not. Called once, while no write is running. */
  close(): void
}

/**
 * A store. Methods with a question mark are optional; their documentation describes what happens without them.
 *
 * @typeParam Snapshot - The back-end's own type of snapshots. It gets no others.
 */
export interface Backend<Snapshot extends BackendSnapshot = BackendSnapshot> {
  /** What the back-end can do. It must not change. */
  readonly manifest: BackendManifest

  /**
   * Opens the store, for the first time or again.
   *
   * @param options - The options of `db.open()` and of the database's constructor, unchecked.
   */
  open(options: object): void | Promise<void>

  /**
   * Closes the store once the operations still running have ended. Cursors, snapshots and batches have been closed before.
   *
   * The back-end releases the store even if this fails: `open()` may be called next, and another process may open the store. It
   * fails if acknowledged writes may be lost: with LEVEL_WRITES_REFUSED, which the user does not see, if an earlier call has
   * reported that.
   */
  close(): void | Promise<void>

  /** Returns the value of a key, or undefined if the key does not exist. */
  get(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: Snapshot
  ): Bytes | undefined | Promise<Bytes | undefined>

  /** Like {@link get}, but within the call. See {@link BackendManifest.syncReads}. */
  getSync?(key: Bytes, options: BackendReadOptions, snapshot?: Snapshot): Bytes | undefined

  /** Returns the value of each key, all from the same state. */
  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: Snapshot
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>>

  /** Returns whether the key exists. */
  has(key: Bytes, options: BackendReadOptions, snapshot?: Snapshot): boolean | Promise<boolean>

  /** Returns whether each of the keys exists, all in the same state. */
  hasMany(keys: Bytes[], options: BackendReadOptions, snapshot?: Snapshot): boolean[] | Promise<boolean[]>

  /**
   * Writes operations.
   *
   * - *Atomic*: no read, and no opening after a crash, ever finds a part of them.
   * - *Ordered*: writes take effect, and become durable, in the order of the calls, whatever each has to wait for.
   * - *Durable*: as the store documents it. With `sync`, an acknowledged write survives a loss of power, as far as the store
   *   can ensure that at all.
   * - *Failing*: if it throws, nothing has happened, and single operations may be tried again. If it rejects, nothing of it is
   *   stored; a back-end that cannot be sure of that refuses every later write until it is opened again.
   */
  write(operations: Operations, sync: boolean): void | Promise<void>

  /**
   * Like {@link write}, but within the call. It first waits for every write that was called before, so a write of no operations
   * waits for everything pending. See {@link BackendManifest.syncWrites}.
   */
  writeSync?(operations: Operations, sync: boolean): void

  /** Like {@link write} with one operation that stores a value. If it is missing, {@link write} is called. */
  put?(key: Bytes, value: Bytes, sync: boolean): void | Promise<void>

  /** Like {@link write} with one operation that deletes a key. If it is missing, {@link write} is called. */
  del?(key: Bytes, sync: boolean): void | Promise<void>

  /**
   * Deletes the keys of a range that exist now, or in the snapshot. This is a separate write, ordered among the others, but it
   * need not be atomic: a failure may leave some keys deleted. If it is missing, a cursor reads the keys and {@link write}
   * deletes them.
   */
  clear?(range: RangeDeletion, snapshot?: Snapshot): void | Promise<void>

  /** Makes an empty batch. If it is missing, operations are kept in an array. */
  batch?(): BackendBatch

  /** Makes a cursor over a range, before its first entry. It reads from the snapshot, or from the current state. */
  cursor(options: CursorOptions, parts: CursorParts, snapshot?: Snapshot): BackendCursor

  /** Makes a snapshot of the current state: with all writes that were acknowledged, and without any that is called later. */
  snapshot(): Snapshot
}
