import { AbstractChainedBatch, type AbstractChainedBatchWriteOptions } from 'abstract-level'
import { type Bytes, Flag, type NativeBatch, type NativeDatabase } from './binding.js'
import { binding } from './load-binding.js'
import type { WriteOptions } from './operation-options.js'
import { turn } from './turn.js'

/** Options of {@link ChainedBatch.write}. */
export interface ChainedBatchWriteOptions extends AbstractChainedBatchWriteOptions, WriteOptions {}

/** A batch that is built step by step. Made by {@link Level.batch} without arguments. */
export class ChainedBatch<TDatabase, KDefault, VDefault> extends AbstractChainedBatch<
  TDatabase,
  KDefault,
  VDefault
> {
  readonly #native: NativeBatch

  /** @internal */
  constructor(db: TDatabase, database: NativeDatabase) {
    // Made first: what abstract-level has attached to the database must be closable.
    const native = binding.batch(database)
    super(db)
    this.#native = native
  }

  /** @internal */
  _put(key: Bytes, value: Bytes): void {
    binding.batchPut(this.#native, key, value)
  }

  /** @internal */
  _del(key: Bytes): void {
    binding.batchDel(this.#native, key)
  }

  /** @internal */
  _clear(): void {
    binding.batchClear(this.#native)
  }

  /** @internal */
  _write(options: ChainedBatchWriteOptions): void | Promise<void> {
    return binding.batchWrite(this.#native, options.sync === true ? Flag.sync : 0) ?? turn(this.length)
  }

  /** @internal */
  async _close(): Promise<void> {
    binding.batchClose(this.#native)
  }
}

// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface ChainedBatch<TDatabase, KDefault, VDefault> {
  write(): Promise<void>
  write(options: ChainedBatchWriteOptions): Promise<void>
}
