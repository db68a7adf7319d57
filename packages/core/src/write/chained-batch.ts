import {
  AbstractChainedBatch,
  type AbstractChainedBatchDelOptions,
  type AbstractChainedBatchPutOptions,
  type AbstractChainedBatchWriteOptions
} from 'abstract-level'
import type { BackendBatch } from '../backend.js'
import { codedError } from '../errors.js'
import { yieldToEventLoop } from '../event-loop.js'
import type { HookReads } from '../hooks/hook-reads.js'
import { HookedBatch, WriteOnce } from '../hooks/hooked-batch.js'
import { type Watcher, watcherAt } from '../hooks/watchers.js'
import { assertOwnSublevel, type Database, prefixed } from '../level/database.js'
import type { ConditionalOptions, WriteOptions } from '../level/operation-options.js'
import { isSync } from '../level/store.js'
import { type Namespace, spacesAround } from '../sublevel/namespace.js'
import type { PublicOperation } from './hooked-operation.js'
import { assertWritable } from './write-api.js'

/** Options of {@link ChainedBatch.write}. */
export interface ChainedBatchWriteOptions extends AbstractChainedBatchWriteOptions, WriteOptions {}

/**
 * A batch that is built step by step. {@link BackendLevel.batch} and {@link Sublevel.batch} create one if they are called
 * without arguments.
 *
 * Hook functions of the database or sublevel that created the batch see an operation when it is added. Those of its parents,
 * and those with `everyWrite`, see it in `write()`.
 */
export class ChainedBatch<TDatabase, KDefault, VDefault> extends AbstractChainedBatch<
  TDatabase,
  KDefault,
  VDefault
> {
  readonly #namespace: Namespace
  readonly #batch: BackendBatch
  /** How many operations are in the back-end's batch already. They come before the others. */
  #appended = 0
  /** The other operations, which hook functions or listeners see. */
  #hooked: HookedBatch | null = null
  /** The object that the batch was made from, with its functions and listeners as they were then. */
  readonly #watcher: Watcher
  #isOpen = true
  #writing: Promise<void> | undefined

  /** @internal */
  constructor(db: TDatabase, namespace: Namespace) {
    // Made first, because whatever abstract-level has attached to the database must be closable.
    const batch = namespace.store.batch()
    super(db)
    this.#namespace = namespace
    this.#batch = batch
    this.#watcher = watcherAt(namespace, null)
    if (namespace.isWatched || !namespace.store.keySpaces.isEmpty)
      this.#hooked = new HookedBatch(namespace, this.#watcher)
  }

  /** The number of operations in the batch. */
  override get length(): number {
    return this.#appended + (this.#hooked?.length ?? 0)
  }

  /**
   * Adds an operation that stores a value.
   *
   * @throws LEVEL_BATCH_NOT_OPEN after `write()` or `close()`.
   * @throws LEVEL_HOOK_ERROR if a prewrite hook function fails. In that case, the operation is not added.
   */
  override put(key: KDefault, value: VDefault): this
  override put<K = KDefault, V = VDefault>(
    key: K,
    value: V,
    options: AbstractChainedBatchPutOptions<TDatabase, K, V>
  ): this
  override put(key: unknown, value: unknown, options?: object): this {
    return this.#add('put', { ...options, type: 'put', key, value })
  }

  /** Adds an operation that deletes a key; see {@link put} for errors. */
  override del(key: KDefault): this
  override del<K = KDefault>(key: K, options: AbstractChainedBatchDelOptions<TDatabase, K>): this
  override del(key: unknown, options?: object): this {
    return this.#add('del', { ...options, type: 'del', key })
  }

  /**
   * Removes all operations.
   *
   * @throws LEVEL_BATCH_NOT_OPEN after `write()` or `close()`.
   */
  override clear(): this {
    this.#assertOpen()
    this.#batch.clear()
    this.#appended = 0
    this.#hooked?.clear()
    return this
  }

  /**
   * Writes the operations atomically, and closes the batch. Durability is the same as for {@link BackendLevel.put}.
   *
   * @throws LEVEL_BATCH_NOT_OPEN after `write()` or `close()`.
   * @throws LEVEL_DATABASE_NOT_OPEN if the database is not open, or is about to be closed.
   * @throws LEVEL_HOOK_ERROR if a prewrite hook function fails. In that case, nothing is written.
   */
  override async write(options?: ChainedBatchWriteOptions): Promise<void> {
    this.#assertOpen()
    if ((options as ConditionalOptions | undefined)?.if !== undefined) {
      const message =
        "A chained batch cannot have the option 'if': pass the operations to batch() as an array"
      throw codedError('LEVEL_NOT_SUPPORTED', message)
    }
    if (this.length === 0) return this.close()

    assertWritable(this.#namespace, 'batch.write')
    this.#isOpen = false
    const { queue } = this.#namespace.store
    const sync = isSync(options)
    const write = (isBlocking: boolean) => this.#write(sync, isBlocking)
    // Hook functions have to wait until earlier calls are done, and other writes until those of hook functions are written.
    const isAtOnce = this.#hooked === null && queue.isFree
    this.#writing = isAtOnce ? begin(write) : queue.perform(new WriteOnce(write, this.#hooked !== null))

    try {
      await this.#writing
    } catch (error) {
      await this.close()
      throw error
    }

    const closing = this.close()
    this.#hooked?.emit()
    return closing
  }

  /** @internal */
  async _close(): Promise<void> {
    this.#isOpen = false
    // A database that is closing waits for running writes.
    await this.#writing?.catch(() => {})
    this.#batch.close()
  }

  #add(method: string, operation: PublicOperation): this {
    this.#assertOpen()
    const target = operation.sublevel ?? this.#namespace.owner

    if (this.#hooked === null && spacesAround(this.#namespace.store, target).length > 0) {
      this.#hooked = new HookedBatch(this.#namespace, this.#watcher)
    }

    if (this.#hooked !== null) this.#hooked.add(`batch.${method}`, operation)
    else this.#append(operation, target)
    return this
  }

  #append(operation: PublicOperation, target: Database): void {
    const { root } = this.#namespace.store

    assertOwnSublevel(target, this.#namespace.owner, root)

    target._assertValidKey(operation.key)
    const encoding = target.keyEncoding(operation.keyEncoding)
    const key = prefixed(target.prefix ?? '', encoding.encode(operation.key), encoding.format)

    if (operation.type === 'put') {
      const valueEncoding = target.valueEncoding(operation.valueEncoding)
      this.#batch.put(key, valueEncoding.encodeValue(operation.value, operation.key))
    } else {
      this.#batch.del(key)
    }

    this.#appended++
  }

  #write(sync: boolean, isBlocking: boolean): void | Promise<void> {
    const { store } = this.#namespace
    const count = this.length
    if (this.#hooked !== null && store.hookReads !== null) {
      return this.#writeLater(this.#hooked, store.hookReads, sync)
    }
    if (this.#hooked !== null) this.#batch.append(this.#hooked.flat())
    if (!isBlocking) return store.writeBatch(this.#batch, sync) ?? yieldToEventLoop(count)
    store.writeBatchSync(this.#batch, sync)
  }

  /** Writes once functions know what they read. */
  async #writeLater(hooked: HookedBatch, reads: HookReads, sync: boolean): Promise<void> {
    this.#batch.append(await hooked.flatLater(reads))
    return this.#namespace.store.writeBatch(this.#batch, sync) ?? yieldToEventLoop(this.length)
  }

  #assertOpen(): void {
    if (!this.#isOpen) {
      throw codedError(
        'LEVEL_BATCH_NOT_OPEN',
        'Batch is not open: cannot change operations after write() or close()'
      )
    }
  }
}

// biome-ignore lint/correctness/noUnusedVariables: both declarations of a class name the same parameters
export interface ChainedBatch<TDatabase, KDefault, VDefault> {
  write(): Promise<void>
  write(options: ChainedBatchWriteOptions): Promise<void>
}

async function begin(write: (isBlocking: boolean) => void | Promise<void>): Promise<void> {
  await write(false)
}
