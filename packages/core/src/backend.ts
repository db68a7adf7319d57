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

/** The name of a format of keys and values in abstract-level. */
export type Format = 'utf8' | 'buffer' | 'view'

/**
 * The operations of a write, as alternating keys and values, in the order in which they take effect. The value of a key to
 * delete is null.
 */
export type Operations = ReadonlyArray<Bytes | null>

/** What must hold for a conditional write; see {@link Backend.writeIf}. */
export type BackendCondition<Snapshot extends BackendSnapshot = BackendSnapshot> =
  /** The key has no entry, or has one. */
  | { readonly kind: 'absent' | 'present'; readonly key: Bytes }
  /** The entry of the key has this value. */
  | { readonly kind: 'equals'; readonly key: Bytes; readonly value: Bytes }
  /** The range has the same entries as in the snapshot. An entry that was written again with the same value may count as changed. */
  | { readonly kind: 'unchanged'; readonly range: Range; readonly snapshot: Snapshot }
  /** The entry of the key has this version. Only for back-ends with {@link BackendManifest.versions}, as the next kind. */
  | { readonly kind: 'version'; readonly key: Bytes; readonly version: number }
  /** Nothing in the range has changed since the entry with this version was written, wherever that entry is. */
  | { readonly kind: 'unchangedSinceVersion'; readonly range: Range; readonly version: number }

/** The value of an entry, and the entry's version; see {@link BackendManifest.versions}. */
export type VersionedValue = readonly [value: Bytes, version: number]

/** The capabilities that a back-end declares. They become part of the database's manifest, `db.supports`. */
export interface BackendManifest {
  /**
   * The formats that the back-end accepts and returns. `buffer` or `view` must be among them, since not all bytes are text.
   * Data that users pass in another format is converted.
   */
  readonly encodings: { readonly [name in Format]?: boolean }
  /**
   * Whether the back-end can read synchronously, blocking the thread if it must. If so, it has {@link Backend.getSync}, and its
   * cursors have {@link BackendCursor.readSync}. If not, `getSync()` and loops without `await` fail with LEVEL_NOT_SUPPORTED.
   *
   * @defaultValue `false`
   */
  readonly syncReads?: boolean
  /**
   * Whether the back-end can write synchronously, blocking the thread if it must. If so, it has {@link Backend.writeSync}, and
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
   * Whether other programs or instances also write to the store, unnoticed by this database. If so, no hook sees every write,
   * and `db.supports.everyWrite` is false.
   *
   * @defaultValue `false`
   */
  readonly shared?: boolean
  /**
   * Whether the back-end can write under conditions. If so, it has {@link Backend.writeIf}, and with {@link syncWrites} also
   * {@link Backend.writeIfSync}.
   *
   * @defaultValue `false`
   */
  readonly conditionalWrites?: boolean
  /**
   * Whether entries have versions: integers of which each write of a key gives its entry a larger one, and which reopening does not
   * change. If so, it has {@link Backend.getEntry}, and its conditions may be of versions.
   *
   * @defaultValue `false`
   */
  readonly versions?: boolean
  /** Whether `open()` honours the option `createIfMissing`. */
  readonly createIfMissing?: boolean
  /** Whether `open()` honours the option `errorIfExists`. */
  readonly errorIfExists?: boolean
}

/** Options of reads. They may include other options of abstract-level, which the back-end ignores. */
export interface BackendReadOptions {
  /** Whether to cache what is read, if the back-end has a cache. If undefined, the back-end decides. */
  readonly fillCache?: boolean
  /** The format of the keys that are returned. */
  readonly keyEncoding?: string
  /** The format of the values that are returned. */
  readonly valueEncoding?: string
}

/** The bounds of a range. `gte` takes precedence over `gt`, and `lte` over `lt`. */
export interface Range {
  /** The lower bound, inclusive. */
  gte?: Bytes | undefined
  /** The lower bound, exclusive. */
  gt?: Bytes | undefined
  /** The upper bound, inclusive. */
  lte?: Bytes | undefined
  /** The upper bound, exclusive. */
  lt?: Bytes | undefined
}

/** Options of a cursor: its range, its direction, and how it reads. */
export interface CursorOptions extends Range, BackendReadOptions {
  /** Whether to walk from the last key to the first. */
  readonly reverse: boolean
}

/** The parts of each entry that a cursor yields: the key, the value, or both. */
export type CursorParts = 'keys' | 'values' | 'entries'

/** A range whose keys are to be deleted. */
export interface RangeDeletion extends Range {
  /** Whether the limit counts from the last key backwards. */
  readonly reverse: boolean
  /** The maximum number of keys to delete. A negative number means no limit. */
  readonly limit: number
}

/**
 * The result of a read, as one array: whether the end was reached, a buffer, and then the parts (keys, values, or both
 * alternating). A part that is a number stands for the next piece of the buffer, and is its length in bytes. A thousand entries
 * can therefore share one piece of memory.
 */
export type Page = readonly [
  ended: boolean,
  pieces: Uint8Array | undefined,
  ...parts: Array<Bytes | number | undefined>
]

/** A position within a range of the database, as it was when the cursor was created. Later writes are not visible. */
export interface BackendCursor {
  /**
   * Reads the next `size` entries, or all that remain. Stops early once keys and values exceed `highWaterMarkBytes`, but never
   * before the first entry. It is not called again until its promise has settled.
   */
  read(size: number, highWaterMarkBytes: number): Page | Promise<Page>

  /** Like {@link read}, but synchronous. See {@link BackendManifest.syncReads}. */
  readSync?(size: number, highWaterMarkBytes: number): Page

  /**
   * Makes the next read begin with the first key that is not before `target`, in the order of the cursor. If `target` is
   * outside the range, nothing remains to be read.
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

/** A batch of operations that the back-end itself collects. All methods except `write` are synchronous. */
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
 * A store of keys and values. Methods with a question mark are optional; their documentation describes what happens if they are
 * missing.
 *
 * @typeParam Snapshot - The back-end's own type of snapshots. It is passed no others.
 */
export interface Backend<Snapshot extends BackendSnapshot = BackendSnapshot> {
  /** The capabilities of the back-end. They must not change. */
  readonly manifest: BackendManifest

  /**
   * Opens the store, for the first time or again.
   *
   * @param options - The options of `db.open()` and of the database's constructor, unchecked.
   */
  open(options: object): void | Promise<void>

  /**
   * Closes the store once the running operations have ended. Cursors, snapshots and batches are already closed.
   *
   * The back-end releases the store even if this fails: `open()` may be called next, and another process may open the store. It
   * fails if acknowledged writes may be lost. If an earlier call has reported that, it fails with LEVEL_WRITES_REFUSED, which
   * the user does not see.
   */
  close(): void | Promise<void>

  /** Returns the value of a key, or undefined if the key does not exist. */
  get(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: Snapshot
  ): Bytes | undefined | Promise<Bytes | undefined>

  /** Like {@link get}, but synchronous. See {@link BackendManifest.syncReads}. */
  getSync?(key: Bytes, options: BackendReadOptions, snapshot?: Snapshot): Bytes | undefined

  /** Like {@link get}, but with the version of the entry. See {@link BackendManifest.versions}. */
  getEntry?(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: Snapshot
  ): VersionedValue | undefined | Promise<VersionedValue | undefined>

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
   * - *Atomic*: no read, and no open after a crash, ever finds only some of them.
   * - *Ordered*: writes take effect, and become durable, in the order of the calls, whatever each has to wait for.
   * - *Durable*: as the store documents. With `sync`, an acknowledged write survives a power loss, as far as the store can
   *   ensure that.
   * - *Failing*: if the call throws, it has had no effect, and individual operations may be retried. If it rejects, none of the
   *   write is stored; a back-end that cannot be sure of that refuses every later write until it is opened again.
   */
  write(operations: Operations, sync: boolean): void | Promise<void>

  /**
   * Like {@link write}, but synchronous. It first waits for all earlier writes, so writing no operations waits for everything
   * pending. See {@link BackendManifest.syncWrites}.
   */
  writeSync?(operations: Operations, sync: boolean): void

  /**
   * Writes operations like {@link write}, if all conditions hold right before it. No other write comes between the check and the
   * write, and all conditions are checked in the same state. If one does not hold, nothing is written, and the call fails with
   * LEVEL_CONFLICT; see {@link conflict}. Without operations, it only checks the conditions. See
   * {@link BackendManifest.conditionalWrites}.
   */
  writeIf?(
    conditions: ReadonlyArray<BackendCondition<Snapshot>>,
    operations: Operations,
    sync: boolean
  ): void | Promise<void>

  /** Like {@link writeIf}, but synchronous like {@link writeSync}. */
  writeIfSync?(
    conditions: ReadonlyArray<BackendCondition<Snapshot>>,
    operations: Operations,
    sync: boolean
  ): void

  /** Like {@link write} with one operation that stores a value. If this method is missing, {@link write} is called. */
  put?(key: Bytes, value: Bytes, sync: boolean): void | Promise<void>

  /** Like {@link write} with one operation that deletes a key. If this method is missing, {@link write} is called. */
  del?(key: Bytes, sync: boolean): void | Promise<void>

  /**
   * Deletes the keys of a range that exist now, or in the snapshot. This is a separate write, ordered among the others, but it
   * need not be atomic: a failure may leave some keys deleted. If this method is missing, a cursor reads the keys and
   * {@link write} deletes them.
   */
  clear?(range: RangeDeletion, snapshot?: Snapshot): void | Promise<void>

  /** Creates an empty batch. If this method is missing, operations are kept in an array. */
  batch?(): BackendBatch

  /**
   * Creates a cursor over a range, positioned before its first entry. It reads from the snapshot if one is passed, otherwise
   * from the current state.
   */
  cursor(options: CursorOptions, parts: CursorParts, snapshot?: Snapshot): BackendCursor

  /** Creates a snapshot of the current state. It includes every acknowledged write, and no write that is called later. */
  snapshot(): Snapshot
}
