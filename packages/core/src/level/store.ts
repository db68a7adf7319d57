/** What a database shares with its sublevels: the back-end and its calls, the order of writes, and the hooks. */

import type { Backend, BackendBatch, BackendCondition, Bytes, Operations, Range } from '../backend.js'
import { notSynchronous } from '../errors.js'
import { afterYield } from '../event-loop.js'
import { canWait, HookReads } from '../hooks/hook-reads.js'
import { isPromise } from '../promise.js'
import { backendSnapshot, type Snapshot } from '../read/snapshot.js'
import { KeySpaces } from '../sublevel/key-space.js'
import { ListBatch } from '../write/list-batch.js'
import { identityOf, inFormat } from '../write/operation-list.js'
import type { Writer } from '../write/write-call.js'
import { WriteQueue } from '../write/write-queue.js'
import type { Database } from './database.js'
import type { Closable } from './weak-children.js'

/** Options as abstract-level passes them to the private methods of reads. */
export interface PrivateReadOptions {
  fillCache?: boolean
  keyEncoding?: string
  valueEncoding?: string
  snapshot?: unknown
}

/** Options of `clear`, as abstract-level passes them to the private method. */
export interface PrivateClearOptions extends Range {
  reverse: boolean
  limit: number
  keyEncoding: string
  snapshot?: unknown
}

export class Store implements Writer {
  readonly root: Database
  readonly backend: Backend
  readonly keySpaces = new KeySpaces()
  readonly queue: WriteQueue
  /** What hook functions read, if they may have to wait for it; null if the back-end reads within the call, or they cannot. */
  readonly hookReads: HookReads | null
  /** Objects that will be closed once all earlier writes are done. They accept no further writes. */
  readonly closing = new Map<object, Promise<void>>()
  /** How many writes there have been. */
  writes = 0
  /** Why the last call of `open()` failed; undefined if it succeeded. */
  refusal: unknown
  /** Whether `close()` is at work. When hook functions refuse to open, abstract-level closes without it, and its rules hold. */
  isClosing = false
  /** What could not be written or released when the database was closed, until a call reports it. */
  #closeFailure: { readonly error: unknown } | undefined

  constructor(root: Database, backend: Backend) {
    this.root = root
    this.backend = backend
    const { format } = root.keyEncoding('buffer')
    this.hookReads = canWait(backend.manifest) ? new HookReads(backend, format) : null
    this.queue = new WriteQueue(this, this.hookReads)
  }

  /** Closes the back-end, and keeps its error for {@link takeCloseFailure}, unless an earlier call has reported it. */
  async closeBackend(): Promise<void> {
    try {
      await this.backend.close()
    } catch (error) {
      const isKnown = (error as { code?: unknown } | null)?.code === 'LEVEL_WRITES_REFUSED'
      if (!isKnown) this.#closeFailure ??= { error }
    }
  }

  /**
   * Something that is closed with the database. Iterators and the like fail once, and must not keep the store open: in `close()`, the
   * error is kept likewise. What fails again does keep it open.
   */
  released(resource: Closable): Closable {
    return {
      close: async () => {
        try {
          await resource.close()
        } catch (error) {
          if (!this.isClosing) throw error
          await resource.close()
          this.#closeFailure ??= { error }
        }
      }
    }
  }

  /** What could not be written or released when the database was closed. Each failure is returned once. */
  takeCloseFailure(): { readonly error: unknown } | undefined {
    const failure = this.#closeFailure
    this.#closeFailure = undefined
    return failure
  }

  get(key: Bytes, options: PrivateReadOptions): Bytes | undefined | Promise<Bytes | undefined> {
    return this.backend.get(key, options, backendSnapshot(options.snapshot))
  }

  /** Within a hook function, this sees what earlier operations will have written. */
  getSync(key: Bytes, options: PrivateReadOptions): Bytes | undefined {
    const { backend, queue } = this
    if (backend.getSync === undefined) return this.#getInHook(key, options)
    const { running } = queue

    if (running !== null && (options.snapshot === undefined || options.snapshot === null)) {
      const value = running.find(identityOf(key))
      if (value !== undefined) return value === null ? undefined : inFormat(value, options.valueEncoding)
    }

    return backend.getSync(key, options, backendSnapshot(options.snapshot))
  }

  /** The same where the back-end cannot read within the call. */
  #getInHook(key: Bytes, options: PrivateReadOptions): Bytes | undefined {
    const { hookReads, queue } = this
    if (hookReads === null || !hookReads.isActive) throw notSynchronous('getSync()', 'read')

    if (options.snapshot === undefined || options.snapshot === null) {
      const value = queue.running?.find(identityOf(key))
      if (value !== undefined) return value === null ? undefined : inFormat(value, options.valueEncoding)
    }

    return hookReads.get(key, options)
  }

  getMany(
    keys: Bytes[],
    options: PrivateReadOptions
  ): Array<Bytes | undefined> | Promise<Array<Bytes | undefined>> {
    const found = this.backend.getMany(keys, options, backendSnapshot(options.snapshot))
    return afterYield(found, keys.length)
  }

  has(key: Bytes, options: PrivateReadOptions): boolean | Promise<boolean> {
    const found = this.backend.has(key, options, backendSnapshot(options.snapshot))
    return referenced(options.snapshot, afterYield(found))
  }

  hasMany(keys: Bytes[], options: PrivateReadOptions): boolean[] | Promise<boolean[]> {
    const found = this.backend.hasMany(keys, options, backendSnapshot(options.snapshot))
    return referenced(options.snapshot, afterYield(found, keys.length))
  }

  put(key: Bytes, value: Bytes, sync: boolean): void | Promise<void> {
    const { backend } = this
    return this.#written(
      backend.put === undefined ? backend.write([key, value], sync) : backend.put(key, value, sync)
    )
  }

  del(key: Bytes, sync: boolean): void | Promise<void> {
    const { backend } = this
    return this.#written(
      backend.del === undefined ? backend.write([key, null], sync) : backend.del(key, sync)
    )
  }

  /** Writes operations atomically. Keys and values alternate. */
  write(operations: Operations, sync: boolean): void | Promise<void> {
    return this.#written(this.backend.write(operations, sync))
  }

  /** Like {@link write}, but within the call and after all earlier calls. */
  writeSync(operations: Operations, sync: boolean): void {
    const { backend } = this
    if (backend.writeSync === undefined) throw notSynchronous('a synchronous write', 'write')
    this.writes++
    backend.writeSync(operations, sync)
  }

  /** Writes operations if the conditions hold. The back-end has declared that it can. */
  writeIf(
    conditions: readonly BackendCondition[],
    operations: Operations,
    sync: boolean
  ): void | Promise<void> {
    return this.#written(this.backend.writeIf?.(conditions, operations, sync))
  }

  /** Like {@link writeIf}, but within the call and after all earlier calls. */
  writeIfSync(conditions: readonly BackendCondition[], operations: Operations, sync: boolean): void {
    this.writes++
    this.backend.writeIfSync?.(conditions, operations, sync)
  }

  batch(): BackendBatch {
    const { backend } = this
    return backend.batch === undefined ? new ListBatch(backend) : backend.batch()
  }

  writeBatch(batch: BackendBatch, sync: boolean): void | Promise<void> {
    return this.#written(batch.write(sync))
  }

  writeBatchSync(batch: BackendBatch, sync: boolean): void {
    if (batch.writeSync === undefined) throw notSynchronous('a synchronous write', 'write')
    this.writes++
    batch.writeSync(sync)
  }

  /** Whether {@link clear} may be called. */
  get clearsRanges(): boolean {
    return this.backend.clear !== undefined
  }

  clear(options: PrivateClearOptions): void | Promise<void> {
    return this.#written(this.backend.clear?.(options, backendSnapshot(options.snapshot)))
  }

  #written(waiting: void | Promise<void>): void | Promise<void> {
    this.writes++
    if (waiting !== undefined) this.queue.track(waiting)
    return waiting
  }
}

/** Whether a write must survive a loss of power. */
export function isSync(options: { sync?: boolean | undefined } | null | undefined): boolean {
  return options?.sync === true
}

/** Keeps a snapshot open until the result is there. Abstract-level does not do that for `has()` and `hasMany()`. */
function referenced<T>(snapshot: unknown, result: T | Promise<T>): T | Promise<T> {
  if (snapshot === undefined || snapshot === null || !isPromise(result)) return result

  const held = snapshot as Snapshot
  held.ref()
  return result.finally(() => held.unref())
}
