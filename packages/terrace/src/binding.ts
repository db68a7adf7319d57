/**
 * The native addon, as TypeScript sees it. `crates/node/src/functions.rs` registers the functions; the order of
 * arguments is documented there and here alike. Only this package calls them, so they check little.
 *
 * A function that returns `T | Promise<T>` returns the value itself when it need not wait: that is the fast path.
 */

import type { Bytes, Page, Range } from 'terrace-core'
import type { ErrorFactory } from './errors.js'
import type { NativeOpenOptions } from './options.js'

/** An opaque native object. It is released when it is garbage-collected, or sooner by its `close` function. */
interface Native<Kind extends string> {
  readonly __kind: Kind
}

export type NativeDatabase = Native<'database'>
export type NativeSnapshot = Native<'snapshot'>
export type NativeIterator = Native<'iterator'>
export type NativeBatch = Native<'batch'>

/** Choices of one call, combined by `|`. The same constants are in `crates/node/src/options.rs`. */
export const Flag = {
  /** Blocks that are read go into the block cache. */
  fillCache: 1,
  /** Keys are given out as buffers, not as strings. */
  keysAsBuffers: 2,
  /** Values are given out as buffers, not as strings. */
  valuesAsBuffers: 4,
  /** A write survives a loss of power before it is acknowledged. */
  sync: 8,
  /** A read waits for the disk if it must, on the calling thread. */
  blocking: 16,
  /** An iterator yields keys. */
  keys: 32,
  /** An iterator yields values. */
  values: 64,
  /** The order is from the last key to the first. */
  reverse: 128,
  /** A snapshot is passed. */
  snapshot: 256
} as const

/** Numbers about one level of the database. */
export interface LevelStats {
  /** Tables in the level. */
  files: number
  /** Their size on disk. */
  sizeBytes: number
  /** Flushes and compactions into the level since the database was opened. */
  compactions: number
  /** The time they took. */
  compactionMicros: number
  /** What they read. */
  readBytes: number
  /** What they wrote. */
  writtenBytes: number
}

/** Numbers about a database's size and work. */
export interface Stats {
  /** The levels, from 0 down. */
  levels: LevelStats[]
  /** Memory of entries that are not in tables yet. */
  memtableBytes: number
  /** Memory of blocks in the cache; those of a shared cache count for every database. */
  blockCacheBytes: number
  /** Full write buffers that wait to be written to a table. */
  sealedMemtables: number
  /** Compactions that run now. */
  compactionsRunning: number
  /** Sequence number of the newest write; each operation has one. */
  lastSequence: number
  /** Bytes of logs that the open left out, since a loss of power seems to have taken a part; they are in the directory `lost`. */
  leftOutLogBytes: number
}

/** What an open left out of the logs; the event `leftOut` has it. */
export interface LeftOutLog {
  /** The log with a place that looks as a loss of power leaves it. It and all later ones are in the directory `lost`. */
  file: string
  /** Bytes that were left out, later logs included. */
  bytes: number
  /** What is wrong at that place. */
  message: string
}

/** What a repair did. */
export interface RepairReport {
  /** Whether every entry that the database held is still there, as far as can be known. */
  nothingLost: boolean
  /** Bytes of entries and log records that could not be read. */
  lostBytes: number
  /** Entries in the tables afterwards, with deletions and old values that a compaction has not removed yet. */
  entriesKept: number
  /** All that was found and done, for a person to read. */
  text: string
}

/** A string, the length of a piece of the buffer that comes with it, or undefined where there is nothing. */
export type Part = string | number | undefined

/** What was found for many keys: the buffer whose pieces the values are, if they are buffers, and a value for each key. */
export type FoundMany = [buffer: Buffer | undefined, ...values: Part[]]

export interface Binding {
  /** `collector` returns an array of its arguments. */
  setHelpers(errorFactory: ErrorFactory, collector: (...parts: unknown[]) => unknown[]): void

  open(path: string, options: NativeOpenOptions): Promise<NativeDatabase>
  close(database: NativeDatabase): Promise<void>

  /**
   * With {@link Flag.valuesAsBuffers} a slab is passed, from whose offset on the value is stored if it fits; its length is
   * returned then.
   */
  get(
    database: NativeDatabase,
    key: Bytes,
    flags: number,
    snapshot?: NativeSnapshot,
    slab?: Uint8Array,
    offset?: number
  ): Bytes | number | undefined | Promise<Bytes | undefined>
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
  /** `operations` are keys and values in turns, with null for the value of a key to delete. */
  write(database: NativeDatabase, flags: number, ...operations: Array<Bytes | null>): void | Promise<void>
  /** A limit below zero is none. */
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
  /** Operations as those of `write`. */
  batchAppend(batch: NativeBatch, ...operations: Array<Bytes | null>): void
  batchClear(batch: NativeBatch): void
  batchWrite(batch: NativeBatch, flags: number): void | Promise<void>
  batchClose(batch: NativeBatch): void

  iterator(database: NativeDatabase, range: Range, flags: number, snapshot?: NativeSnapshot): NativeIterator
  iteratorSeek(iterator: NativeIterator, target: Bytes): void
  /**
   * Reads up to `size` entries, and stops earlier once they exceed `highWaterMarkBytes`. With {@link Flag.blocking} it
   * waits for the disk on this thread.
   */
  iteratorRead(
    iterator: NativeIterator,
    size: number,
    highWaterMarkBytes: number,
    flags: number
  ): Page | Promise<Page>
  /** Makes the running read, and later ones, fail with LEVEL_ABORTED. */
  iteratorAbort(iterator: NativeIterator): void
  iteratorClose(iterator: NativeIterator): void

  snapshot(database: NativeDatabase): NativeSnapshot
  snapshotClose(snapshot: NativeSnapshot): void

  approximateSize(database: NativeDatabase, start: Bytes, end: Bytes): Promise<number>
  compactRange(database: NativeDatabase, start: Bytes, end: Bytes): Promise<void>
  checkpoint(database: NativeDatabase, path: string): Promise<void>
  refresh(database: NativeDatabase): Promise<void>
  property(database: NativeDatabase, name: string): string | undefined
  leftOutLog(database: NativeDatabase): LeftOutLog | undefined
  stats(database: NativeDatabase): Stats

  destroy(path: string): Promise<void>
  repair(path: string, options: NativeOpenOptions): Promise<RepairReport>
}
