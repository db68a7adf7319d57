/** Types for the part of lmdb that this package uses. lmdb's own types lack some of it. */

import { IF_EXISTS, open } from 'lmdb'
import type { Bytes } from 'terrace-core'
import type { KeyCodec, StoredKey } from './keys.js'

/** Instead of a version: any. */
export { IF_EXISTS }

/** A read transaction. Its user must call `done()` exactly once. */
export interface ReadTransaction {
  done(): void
}

/** Options of reads. Without a transaction, a read uses the current one, which lmdb renews on later event loop turns. */
export interface ReadOptions {
  readonly transaction?: ReadTransaction | undefined
}

/** Options of ranges. `start` is the first key in the direction of iteration. */
export interface RangeOptions extends ReadOptions {
  readonly start: StoredKey
  readonly end: StoredKey
  readonly exclusiveStart: boolean
  readonly inclusiveEnd: boolean
  readonly reverse: boolean
  readonly values: boolean
}

/** An item of a range: an entry, or with `values: false` a key. */
export type RangeItem = Bytes | { readonly key: Bytes; readonly value: Uint8Array }

/** A store opened by lmdb. */
export interface LmdbStore {
  /** The size of the last value read, in bytes. */
  readonly lastSize: number
  /** Returns the value in memory that the next read reuses; only its first {@link lastSize} bytes count. */
  getBinaryFast(key: Bytes | StoredKey, options?: ReadOptions): Buffer | undefined
  /** Returns a copy of the value. */
  getBinary(key: Bytes, options?: ReadOptions): Uint8Array | undefined
  getRange(options: RangeOptions): Iterable<RangeItem>
  useReadTransaction(): ReadTransaction
  resetReadTxn(): void
  put(key: Bytes | StoredKey, value: Uint8Array): Promise<boolean>
  remove(key: Bytes | StoredKey): Promise<boolean>
  batch(write: () => void): Promise<boolean>
  /** Like {@link batch}, if the entry of the key has this version when lmdb's thread comes to it. */
  ifVersion(key: StoredKey, version: number, write: () => void): Promise<boolean>
  /**
   * Calls a function within a transaction of lmdb's thread, which waits for this thread meanwhile and keeps all other writers out.
   * The function sees what was written before, and nothing of what is called after this.
   */
  transaction(work: () => void): Promise<unknown>
  /** Calls a function within a transaction of this thread, which waits until no other thread or process writes. */
  transactionSync(work: () => void): void
  /** Removes the readers of processes that have ended. */
  readerCheck(): number
  /** The readers of all processes as a table. Its rows begin with the process ID. */
  readerList(): string
  close(): Promise<void>
}

export interface StoreOptions {
  readonly keyEncoder: KeyCodec
  readonly readOnly: boolean
  readonly maxReaders: number
}

/** Opens the store in a directory. */
export function openStore(path: string, options: StoreOptions): LmdbStore {
  return open(path, {
    ...options,
    // Otherwise, a path with a dot would be a file.
    noSubdir: false,
    encoding: 'binary',
    // Flushes each commit before it becomes visible. With lmdb's default, a loss of power can undo what others have read.
    overlappingSync: false,
    // With batching, lmdb makes a promise that cannot be handled, and a failing commit ends the process.
    eventTurnBatching: false,
    // Otherwise, what is written after a call of `transaction()` comes before it.
    strictAsyncOrder: true,
    // This many operations begin a transaction before the event loop turn ends.
    txnStartThreshold: 1000
  } as never) as unknown as LmdbStore
}
