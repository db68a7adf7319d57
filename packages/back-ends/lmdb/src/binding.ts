/** The part of lmdb that this package uses, as it is. Its own types lack some of it. */

import { open } from 'lmdb'
import type { Bytes } from 'terrace-core'
import type { KeyCodec, StoredKey } from './keys.js'

/** A read transaction. Whoever uses it calls `done()` once. */
export interface ReadTransaction {
  done(): void
}

/** Options of reads. Without a transaction, a read uses the current one, which lmdb renews on later turns of the event loop. */
export interface ReadOptions {
  readonly transaction?: ReadTransaction | undefined
}

/** Options of ranges. `start` is the first key in the direction of the walk. */
export interface RangeOptions extends ReadOptions {
  readonly start: StoredKey
  readonly end: StoredKey
  readonly exclusiveStart: boolean
  readonly inclusiveEnd: boolean
  readonly reverse: boolean
  readonly values: boolean
}

/** What a range yields: an entry, or with `values: false` a key. */
export type RangeItem = Bytes | { readonly key: Bytes; readonly value: Uint8Array }

/** A store of lmdb. */
export interface LmdbStore {
  /** The size of the value that was read last, in bytes. */
  readonly lastSize: number
  /** Returns the value in memory that the next read uses again; only its first {@link lastSize} bytes count. */
  getBinaryFast(key: Bytes, options?: ReadOptions): Buffer | undefined
  /** Returns a copy of the value. */
  getBinary(key: Bytes, options?: ReadOptions): Uint8Array | undefined
  getRange(options: RangeOptions): Iterable<RangeItem>
  useReadTransaction(): ReadTransaction
  resetReadTxn(): void
  put(key: Bytes, value: Uint8Array): Promise<boolean>
  remove(key: Bytes): Promise<boolean>
  batch(write: () => void): Promise<boolean>
  /** Forgets the readers of processes that have ended. */
  readerCheck(): number
  /** The readers of all processes as a table, whose rows begin with the number of the process. */
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
    // A path with a dot would be a file otherwise.
    noSubdir: false,
    encoding: 'binary',
    // A commit is flushed before anyone sees it. With lmdb's default, others read what a loss of power may take back.
    overlappingSync: false,
    // With it, lmdb makes a promise that nobody can handle, and a commit that fails ends the process.
    eventTurnBatching: false,
    // How many operations begin a transaction before the turn of the event loop has ended.
    txnStartThreshold: 1000
  } as never) as unknown as LmdbStore
}
