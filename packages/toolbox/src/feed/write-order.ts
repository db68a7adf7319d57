/**
 * Makes writes take effect in the order in which their hooks ran, so that a hook's `getSync` sees every earlier write.
 *
 * Terrace guarantees this order. On other databases, writes run one after another: methods on the object that has the hook
 * replace the originals.
 */

import type { Buffer } from '../buffer.js'
import { type KeySpace, rawEncodings } from '../key-space.js'
import type { AnyLevel } from '../level-like.js'
import { CollectedBatch } from './collected-batch.js'
import { encodeRange } from './range.js'
import { listen } from './root-events.js'

/** Writes operations as one batch, in terms of the root. */
export type WriteRaw = (operations: object[]) => Promise<void>

/** The write order of one database or sublevel. */
export interface WriteOrder {
  /** Whether a hook's `getSync` also sees the earlier operations of the same batch. */
  readonly showsOwnBatch: boolean
  /** Calls `listener` after each write that may have changed this database, until the returned function is called. */
  onWritten(listener: () => void): () => void
  /** Resolves when every earlier write has taken effect or failed. */
  settle(): Promise<void>
  /**
   * Runs `task` once every earlier write has taken effect. If the database does not keep the order itself, other writes wait
   * until the task is done.
   */
  exclusively<Result>(task: (write: WriteRaw) => Promise<Result>): Promise<Result>
  /** Call it when the order is no longer needed. */
  release(): void
}

/** Prepares what a hook needs to run, if that involves waiting. */
export type Prepare = () => Promise<void> | undefined

/**
 * Makes writes take effect in order.
 *
 * @param prepare - Called before each write, if writes can be made to wait.
 * @param barrierKey - A key of the root that is never written. It is deleted in order to wait for earlier writes.
 */
export function orderWrites(space: KeySpace, prepare: Prepare, barrierKey: Buffer): WriteOrder {
  if (space.isExact) return new NativeOrder(space.root, barrierKey)

  let serial = serialOrders.get(space.db)
  if (serial === undefined) {
    serial = new SerialWrites(space)
    serialOrders.set(space.db, serial)
  }
  return serial.lease(prepare)
}

class NativeOrder implements WriteOrder {
  readonly showsOwnBatch = true
  readonly #root: AnyLevel
  readonly #barrierKey: Buffer

  constructor(root: AnyLevel, barrierKey: Buffer) {
    this.#root = root
    this.#barrierKey = barrierKey
  }

  onWritten(listener: () => void): () => void {
    const unlisten = [listen(this.#root, 'write', listener), listen(this.#root, 'clear', listener)]
    return () => {
      for (const end of unlisten) end()
    }
  }

  settle(): Promise<void> {
    return this.#root.del(this.#barrierKey, { keyEncoding: 'buffer' })
  }

  async exclusively<Result>(task: (write: WriteRaw) => Promise<Result>): Promise<Result> {
    await this.settle()
    return task((operations) => this.#root.batch(operations as never, rawEncodings))
  }

  release(): void {}
}

type WriteArray = (operations?: object[], options?: object) => Promise<void>
type Clear = (options?: object) => Promise<void>

const serialOrders = new WeakMap<AnyLevel, SerialWrites>()
const CLEARED_AT_ONCE = 1000

/** Runs the writes of one object one after another. */
class SerialWrites {
  readonly #space: KeySpace
  readonly #batch: WriteArray
  readonly #clear: Clear
  readonly #leases = new Set<Prepare>()
  readonly #listeners = new Set<() => void>()
  #last: Promise<void> = Promise.resolve()
  #pending = 0

  constructor(space: KeySpace) {
    const db = space.db as unknown as { batch: WriteArray; clear: Clear } & Record<string, unknown>
    this.#space = space
    this.#batch = db.batch
    this.#clear = db.clear
    replace(db, 'batch', (...given: [object[]?, object?]) =>
      given.length === 0 ? this.#begin() : this.#write(...given)
    )
    replace(db, 'clear', (options?: Record<string, unknown>) => this.#clearByBatches(options))
  }

  lease(prepare: Prepare): WriteOrder {
    // A new function, because the same one may be passed twice.
    const lease: Prepare = () => prepare()
    this.#leases.add(lease)

    return {
      showsOwnBatch: false,
      onWritten: (listener) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      settle: () => this.#last,
      exclusively: (task) => this.#inTurn(() => task((operations) => this.#writeRaw(operations))),
      release: () => this.#leases.delete(lease)
    }
  }

  #begin(): unknown {
    const { db } = this.#space
    // `batch()` throws if the object is not open.
    if (this.#leases.size === 0 || db.status !== 'open') return this.#batch.call(db)
    return new CollectedBatch(db, (operations, options) => this.#write(operations, options))
  }

  #write(operations?: object[], options?: object): Promise<void> {
    const { db } = this.#space
    if (this.#leases.size === 0) return this.#batch.call(db, operations, options)

    const waits = this.#pending > 0 || this.#isPreparing()
    const kept = waits && Array.isArray(operations) ? operations.map(copied) : operations
    return this.#inTurn(async () => {
      const ready = this.#prepare()
      if (ready !== undefined) await ready
      await this.#batch.call(db, kept, options)
    })
  }

  /** Writes while a task has its turn. */
  #writeRaw(operations: object[]): Promise<void> {
    const { db, root } = this.#space
    const write = db === root ? this.#batch : (root as unknown as { batch: WriteArray }).batch
    return write.call(root, operations, rawEncodings)
  }

  /** Deletes a range in batches, so that hooks see each deletion. */
  async #clearByBatches(options: Record<string, unknown> = {}): Promise<void> {
    const { db } = this.#space
    if (this.#leases.size === 0) return this.#clear.call(db, options)

    const { keyEncoding: _, ...rest } = options
    const range = encodeRange(this.#space, options, options.keyEncoding)
    let keys: object[] = []

    for await (const key of db.keys({ ...rest, ...range, keyEncoding: 'buffer' })) {
      keys.push({ type: 'del', key, keyEncoding: 'buffer' })
      if (keys.length < CLEARED_AT_ONCE) continue
      await this.#write(keys, undefined)
      keys = []
    }

    if (keys.length > 0) await this.#write(keys, undefined)
    db.emit('clear', options)
  }

  #isPreparing(): boolean {
    return [...this.#leases].some((prepare) => prepare() !== undefined)
  }

  #prepare(): Promise<void> | undefined {
    const waiting = [...this.#leases].map((prepare) => prepare()).filter((promise) => promise !== undefined)
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(nothing)
  }

  #inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const before = this.#last
    let finish = nothing
    this.#last = new Promise((resolve) => {
      finish = resolve
    })

    const isFirst = this.#pending++ === 0
    const run = isFirst ? task() : before.then(task)
    const finished = () => {
      this.#pending--
      finish()
      for (const listener of [...this.#listeners]) listener()
    }
    run.then(finished, finished)
    return run
  }
}

/** Shadows a method of an object's class with one on the object. */
function replace<Method>(db: Record<string, Method>, name: string, method: Method): void {
  Object.defineProperty(db, name, { value: method, configurable: true, writable: true, enumerable: false })
}

/** Copies an operation, so that the caller cannot change its bytes while it waits. */
function copied(operation: object): object {
  const copy = { ...operation } as { key?: unknown; value?: unknown }
  if (copy.key instanceof Uint8Array) copy.key = copyOf(copy.key)
  if (copy.value instanceof Uint8Array) copy.value = copyOf(copy.value)
  return copy
}

/** A copy of the same class. The method `slice` of a Buffer would not copy. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes)
}

function nothing(): void {}
