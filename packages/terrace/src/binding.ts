/**
 * The native addon, as TypeScript sees it. `crates/node/src/functions.rs` registers the functions, and documents the order of
 * their arguments as this file does. Only this package calls them, so they check few arguments.
 *
 * A function that returns `T | Promise<T>` returns the value itself when it need not wait: that is the fast path.
 */

import type { Bytes, Page, Range, VersionedValue } from 'terrace-core'
import type { ErrorFactory } from './errors.js'
import type { MemoryBinding } from './memory-binding.js'
import type { FoundMany, Native, NativeConditions } from './native.js'
import type { NativeOpenOptions } from './options.js'
import type { RepairReport } from './repair-report.js'

export type NativeDatabase = Native<'database'>
export type NativeSnapshot = Native<'snapshot'>
export type NativeIterator = Native<'iterator'>
export type NativeBatch = Native<'batch'>

/** Choices for one call, combined with `|`. The same constants are in `crates/node/src/options.rs`. */
export const Flag = {
  /** Put the blocks that are read into the block cache. */
  fillCache: 1,
  /** Return keys as buffers, not as strings. */
  keysAsBuffers: 2,
  /** Return values as buffers, not as strings. */
  valuesAsBuffers: 4,
  /** Acknowledge a write only once it would survive a loss of power. */
  sync: 8,
  /** Let a read wait for the disk on the calling thread if it must. */
  blocking: 16,
  /** Let an iterator yield keys. */
  keys: 32,
  /** Let an iterator yield values. */
  values: 64,
  /** Go from the last key to the first. */
  reverse: 128,
  /** A snapshot is passed. */
  snapshot: 256
} as const

/** Statistics of one level of the database. */
export interface LevelStats {
  /** The number of tables in the level. */
  files: number
  /** The total size of the level's tables on disk, in bytes. */
  sizeBytes: number
  /** The number of flushes and compactions into the level since the database was opened. */
  compactions: number
  /** The time spent on these flushes and compactions, in microseconds. */
  compactionMicros: number
  /** The number of bytes read by these flushes and compactions. */
  readBytes: number
  /** The number of bytes written by these flushes and compactions. */
  writtenBytes: number
}

/** Statistics about a database's size and activity. */
export interface Stats {
  /** Statistics of each level, beginning with level 0. */
  levels: LevelStats[]
  /** The memory used by entries that are not yet in tables, in bytes. */
  memtableBytes: number
  /** The memory used by cached blocks, in bytes. A shared cache counts in full for every database that uses it. */
  blockCacheBytes: number
  /** The number of full write buffers waiting to be written to a table. */
  sealedMemtables: number
  /** The number of compactions running now. */
  compactionsRunning: number
  /** The sequence number of the newest operation. Each operation has its own. */
  lastSequence: number
  /**
   * The number of log bytes that the open left out because a power loss seems to have destroyed part of a log. They are in the
   * directory `lost`.
   */
  leftOutLogBytes: number
}

/** Log writes that an open left out. The event `leftOut` reports each of them, and `db.leftOut` lists them. */
export interface LeftOutLog {
  /**
   * The name of the log. Either a power loss seems to have left a hole in it, and the log and all later ones are in the
   * directory `lost`; or it is a log of another engine, and the file or its end is missing.
   */
  file: string
  /** The number of bytes that were left out, including those of later logs; 0 if the bytes are not in the directory. */
  bytes: number
  /** A description of what is wrong, and where. */
  message: string
}

export interface Binding extends MemoryBinding {
  /** `collector` returns its arguments as an array. */
  setHelpers(errorFactory: ErrorFactory, collector: (...parts: unknown[]) => unknown[]): void

  open(path: string, options: NativeOpenOptions): Promise<NativeDatabase>
  close(database: NativeDatabase): Promise<void>

  /**
   * With {@link Flag.valuesAsBuffers}, a slab is passed. A value that fits is stored from its offset on, and its length is
   * returned.
   */
  get(
    database: NativeDatabase,
    key: Bytes,
    flags: number,
    snapshot?: NativeSnapshot,
    slab?: Uint8Array,
    offset?: number
  ): Bytes | number | undefined | Promise<Bytes | undefined>
  getEntry(
    database: NativeDatabase,
    key: Bytes,
    flags: number,
    snapshot?: NativeSnapshot
  ): VersionedValue | undefined | Promise<VersionedValue | undefined>
  has(
    database: NativeDatabase,
    key: Bytes,
    flags: number,
    snapshot?: NativeSnapshot
  ): boolean | Promise<boolean>
  getMany(
    database: NativeDatabase,
    flags: number,
    snapshot: NativeSnapshot | undefined,
    ...keys: Bytes[]
  ): FoundMany | Promise<FoundMany>
  hasMany(
    database: NativeDatabase,
    flags: number,
    snapshot: NativeSnapshot | undefined,
    ...keys: Bytes[]
  ): boolean[] | Promise<boolean[]>

  put(database: NativeDatabase, key: Bytes, value: Bytes, flags: number): void | Promise<void>
  del(database: NativeDatabase, key: Bytes, flags: number): void | Promise<void>
  /** In `operations` keys and values alternate, with null for the value of a key to delete. */
  write(database: NativeDatabase, flags: number, ...operations: Array<Bytes | null>): void | Promise<void>
  /** `count` is the number of conditions, which are passed as to `batchIf`. */
  writeIf(
    database: NativeDatabase,
    flags: number,
    count: number,
    ...conditionsAndOperations: Array<NativeConditions<NativeSnapshot>[number] | null>
  ): void | Promise<void>
  /** A negative limit means no limit. */
  clear(
    database: NativeDatabase,
    range: Range,
    flags: number,
    limit: number,
    snapshot?: NativeSnapshot
  ): Promise<void>

  batch(database: NativeDatabase): NativeBatch
  batchPut(batch: NativeBatch, key: Bytes, value: Bytes): void
  batchDel(batch: NativeBatch, key: Bytes): void
  /** Takes operations in the form that `write` takes. */
  batchAppend(batch: NativeBatch, ...operations: Array<Bytes | null>): void
  batchClear(batch: NativeBatch): void
  batchIf(batch: NativeBatch, ...conditions: NativeConditions<NativeSnapshot>): void
  batchWrite(batch: NativeBatch, flags: number): void | Promise<void>
  batchClose(batch: NativeBatch): void

  iterator(database: NativeDatabase, range: Range, flags: number, snapshot?: NativeSnapshot): NativeIterator
  iteratorSeek(iterator: NativeIterator, target: Bytes): void
  /**
   * Reads up to `size` entries, and stops early once they exceed `highWaterMarkBytes`. With {@link Flag.blocking}, it waits for
   * the disk on this thread.
   */
  iteratorRead(
    iterator: NativeIterator,
    size: number,
    highWaterMarkBytes: number,
    flags: number
  ): Page | Promise<Page>
  /** Makes the running read and all later ones fail with LEVEL_ABORTED. */
  iteratorAbort(iterator: NativeIterator): void
  iteratorClose(iterator: NativeIterator): void

  snapshot(database: NativeDatabase): NativeSnapshot
  snapshotClose(snapshot: NativeSnapshot): void

  approximateSize(database: NativeDatabase, start: Bytes, end: Bytes): Promise<number>
  compactRange(database: NativeDatabase, start: Bytes, end: Bytes): Promise<void>
  checkpoint(database: NativeDatabase, path: string): Promise<void>
  refresh(database: NativeDatabase): Promise<void>
  property(database: NativeDatabase, name: string): string | undefined
  leftOutLogs(database: NativeDatabase): LeftOutLog[]
  stats(database: NativeDatabase): Stats

  destroy(path: string): Promise<void>
  repair(path: string, options: NativeOpenOptions): Promise<RepairReport>
}
