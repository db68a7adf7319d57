/**
 * What a store has to offer so that {@link BackendLevel} makes a database of it: ordered keys and values as bytes, batches,
 * cursors and snapshots. Hooks, sublevels, events, encodings and the order of hooked writes are made above it.
 *
 * These rules hold for every method:
 *
 * - *Values and promises.* A method whose result is `T | Promise<T>` returns the value itself if it need not wait, which is the
 *   fast path. It may throw or reject; both mean the same, except where a method says otherwise.
 * - *Bytes.* Keys and values come in the formats that {@link BackendManifest.encodings} declares: a string for `utf8`, a `Buffer`
 *   for `buffer`, any `Uint8Array` for `view`. What is given back has the format that the options name. Keys are ordered by
 *   their bytes, unless the user has chosen another order.
 * - *Ownership.* Arguments belong to the caller again when the method has returned, even if its promise is still pending. A
 *   back-end that goes on working with bytes copies them first. What it gives back belongs to the caller.
 * - *Visibility.* A read sees every write that was acknowledged (that has returned, or whose promise has resolved) before the
 *   read was called. It may also see writes that are still pending, but never a part of one.
 * - *Errors.* They are passed on to the user as they are. They are instances of `Error`, with a `code` such as
 *   `LEVEL_IO_ERROR`.
 * - *Life.* Nothing but `open()` is called before `open()` has succeeded or after `close()` was called.
 */

/** A key or a value in one of the three formats of abstract-level: utf8, buffer or view. */
export type Bytes = string | Uint8Array

/** The names of these formats. */
export type Format = 'utf8' | 'buffer' | 'view'

/** Keys and values in turns, in the order in which they are to take effect, with null for the value of a key to delete. */
export type Operations = ReadonlyArray<Bytes | null>

/** What a back-end declares of itself. It becomes a part of the database's manifest, `db.supports`. */
export interface BackendManifest {
  /**
   * The formats that it takes and gives. `buffer` or `view` must be among them, since not all bytes are text. What users have in
   * another format is converted.
   */
  readonly encodings: { readonly [name in Format]?: boolean }
  /**
   * Whether it can read within a call, waiting on the thread if it must: it has {@link Backend.getSync}, and its cursors have
   * {@link BackendCursor.readSync}. Without, `getSync()` and loops without `await` fail with LEVEL_NOT_SUPPORTED.
   *
   * @defaultValue `false`
   */
  readonly syncReads?: boolean
  /**
   * Whether it can write within a call, waiting on the thread if it must: it has {@link Backend.writeSync}, and its batches have
   * {@link BackendBatch.writeSync}. Without, `putSync()` and the like fail with LEVEL_NOT_SUPPORTED.
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
  /** Whether `open()` heeds the option of this name. */
  readonly createIfMissing?: boolean
  /** Whether `open()` heeds the option of this name. */
  readonly errorIfExists?: boolean
}

/** Options of reads. Others of abstract-level may be among them, which do not concern the back-end. */
export interface BackendReadOptions {
  /** Whether what was read is kept in a cache, if there is one. Undefined: as the back-end likes. */
  readonly fillCache?: boolean
  /** The format of keys that are given back. */
  readonly keyEncoding?: string
  /** The format of values that are given back. */
  readonly valueEncoding?: string
}

/** The ends of a range; `gte` and `lte` win over `gt` and `lt`. */
export interface Range {
  gte?: Bytes | undefined
  gt?: Bytes | undefined
  lte?: Bytes | undefined
  lt?: Bytes | undefined
}

/** A range to walk over, and how. */
export interface CursorOptions extends Range, BackendReadOptions {
  /** From the last key to the first. */
  readonly reverse: boolean
}

/** What a cursor yields of each entry. */
export type CursorParts = 'keys' | 'values' | 'entries'

/** A range whose keys are to be deleted. */
export interface RangeDeletion extends Range {
  /** Whether the limit counts from the last key. */
  readonly reverse: boolean
  /** How many keys at most; below zero, all. */
  readonly limit: number
}

/**
 * What a cursor has read, as one array: whether the end was reached, a buffer, and then keys and values, in turns if it yields
 * both. A part that is a number is a piece of the buffer of so many bytes, which begins where the last one ended: so a thousand
 * entries can come in one piece of memory.
 */
export type Page = readonly [
  ended: boolean,
  pieces: Uint8Array | undefined,
  ...parts: Array<Bytes | number | undefined>
]

/** A position within a range, as the database was when the cursor was made, whatever is written meanwhile. */
export interface BackendCursor {
  /**
   * Reads on: `size` entries, or all that are left. It stops early once keys and values exceed `highWaterMarkBytes`, but not before
   * the first entry. It is not called again before its promise has settled.
   */
  read(size: number, highWaterMarkBytes: number): Page | Promise<Page>

  /** As {@link read}, within the call. See {@link BackendManifest.syncReads}. */
  readSync?(size: number, highWaterMarkBytes: number): Page

  /**
   * Has the next read begin with the first key that is not before `target`, in the order of the cursor. After a target outside of
   * the range there is nothing to read.
   */
  seek(target: Bytes): void

  /** Ends a running read early. Its result is not used; it may reject. */
  abort?(): void

  /** Lets go of what it holds. Called once. A read may still be running, whose result is not used. */
  close(): void | Promise<void>
}

/** A state to read from later. */
export interface BackendSnapshot {
  /** Lets go of what it holds. Called once. A read from it may still be running, whose result is not used. */
  close(): void | Promise<void>
}

/** Operations that the back-end collects itself. Each of its methods but `write` is done when it returns. */
export interface BackendBatch {
  put(key: Bytes, value: Bytes): void
  del(key: Bytes): void
  append(operations: Operations): void
  /** Removes all operations. */
  clear(): void
  /** As {@link Backend.write}. Called once. */
  write(sync: boolean): void | Promise<void>
  /** As {@link Backend.writeSync}. Called at most once, instead of {@link write}. */
  writeSync?(sync: boolean): void
  /** Lets go of what it holds, written or not. Called once, when no write is running. */
  close(): void
}

/**
 * A store. Methods with a question mark may be missing; what is done without them is said there.
 *
 * @typeParam Snapshot - Its own type of snapshots. It gets no others.
 */
export interface Backend<Snapshot extends BackendSnapshot = BackendSnapshot> {
  /** It does not change. */
  readonly manifest: BackendManifest

  /**
   * Opens the store, for the first time or again.
   *
   * @param options - Those of `db.open()` and of the database's constructor, unchecked.
   */
  open(options: object): void | Promise<void>

  /** Closes it, after what is still running. Cursors, snapshots and batches were closed before. */
  close(): void | Promise<void>

  /** The value of a key; undefined if there is none. */
  get(
    key: Bytes,
    options: BackendReadOptions,
    snapshot?: Snapshot
  ): Bytes | undefined | Promise<Bytes | undefined>

  /** As {@link get}, within the call. See {@link BackendManifest.syncReads}. */
  getSync?(key: Bytes, options: BackendReadOptions, snapshot?: Snapshot): Bytes | undefined

  /** The value of each key, all as of one state. */
  getMany(
    keys: Bytes[],
    options: BackendReadOptions,
    snapshot?: Snapshot
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>>

  /** Whether there is a value. */
  has(key: Bytes, options: BackendReadOptions, snapshot?: Snapshot): boolean | Promise<boolean>

  /** The same of each key, all as of one state. */
  hasMany(keys: Bytes[], options: BackendReadOptions, snapshot?: Snapshot): boolean[] | Promise<boolean[]>

  /**
   * Writes operations.
   *
   * - *Atomic*: no read, and no opening after a crash, ever finds a part of them.
   * - *Ordered*: writes take effect, and become durable, in the order of the calls, whatever each has to wait for.
   * - *Durable*: as the store documents it; with `sync`, an acknowledged write survives a loss of power, as far as the store can
   *   see to that at all.
   * - *Failing*: if it throws, nothing has happened, and single operations may be tried again. If it rejects, nothing of it is
   *   stored; a back-end that cannot know refuses every later write until it is opened again.
   */
  write(operations: Operations, sync: boolean): void | Promise<void>

  /**
   * As {@link write}, within the call, and after every write that was called before: it waits for those. So a write of no
   * operations waits for all that is pending. See {@link BackendManifest.syncWrites}.
   */
  writeSync?(operations: Operations, sync: boolean): void

  /** As {@link write} with one operation that stores a value. Without, that is called. */
  put?(key: Bytes, value: Bytes, sync: boolean): void | Promise<void>

  /** As {@link write} with one operation that deletes a key. Without, that is called. */
  del?(key: Bytes, sync: boolean): void | Promise<void>

  /**
   * Deletes the keys of a range that are there now, or in the snapshot. It is a write of its own, ordered among the others, but need
   * not be atomic: a failure may leave some keys deleted. Without it, a cursor reads the keys and {@link write} deletes them.
   */
  clear?(range: RangeDeletion, snapshot?: Snapshot): void | Promise<void>

  /** An empty batch. Without, operations are kept in an array. */
  batch?(): BackendBatch

  /** A cursor over a range, before its first entry. It reads from a snapshot, or from the state of now. */
  cursor(options: CursorOptions, parts: CursorParts, snapshot?: Snapshot): BackendCursor

  /** The state of now: with all writes that were acknowledged, and with none that is called later. */
  snapshot(): Snapshot
}
