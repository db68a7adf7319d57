/** The operations of a chained batch that hook functions or listeners see. */

import type { Bytes } from '../backend.js'
import type { Namespace } from '../sublevel/namespace.js'
import { HookedOperation, keepBytes, type PublicOperation } from '../write/hooked-operation.js'
import type { Task } from '../write/write-queue.js'
import type { HookReads } from './hook-reads.js'
import { HookedWrites } from './hooked-writes.js'
import { asksFor } from './reading-ahead.js'
import { Stage } from './stage.js'
import { type Watcher, watchersFrom } from './watchers.js'

export class HookedBatch {
  readonly #namespace: Namespace
  /** What the functions of the object that the batch was made from have seen. They run when an operation is added. */
  readonly #stage: Stage
  #writes: HookedWrites | null = null

  /** @param watcher - The object that the batch was made from, as it was then. */
  constructor(namespace: Namespace, watcher: Watcher) {
    this.#namespace = namespace
    this.#stage = new Stage(watcher)
  }

  get length(): number {
    return this.#stage.length
  }

  /** Adds an operation; see {@link Stage.take}. */
  add(method: string, operation: PublicOperation): void {
    const { owner, store } = this.#namespace
    keepBytes(operation)
    const hooked = HookedOperation.of(operation, owner, store.root)
    store.queue.run(this.#stage, () => this.#stage.take(hooked, method))
  }

  clear(): void {
    this.#stage.clear()
  }

  /** Runs all other functions, and returns what is to be written. */
  flat(): Array<Bytes | null> {
    const writes = this.#begin()
    this.#namespace.store.queue.run(writes, () => writes.take())
    this.#writes = writes
    return writes.list.flat
  }

  /** Like {@link flat}, for functions that may have to wait for what they read. */
  async flatLater(reads: HookReads): Promise<Array<Bytes | null>> {
    const { store } = this.#namespace
    const writes = this.#begin()
    const asks = this.#stage.operations.flatMap((each) => asksFor(store, each.target, () => each))
    await reads.runAlone(asks, (work) => store.queue.run(writes, work), writes.takeInSteps(reads))
    this.#writes = writes
    return writes.list.flat
  }

  #begin(): HookedWrites {
    const { owner, parent } = this.#namespace
    const { operations } = this.#stage
    const watchers = watchersFrom(parent, owner)
    const call = { namespace: this.#namespace, method: 'batch.write', watchers, operations }
    return new HookedWrites(call, null, this.#stage.events())
  }

  /** Emits the event `write`. */
  emit(): void {
    this.#writes?.emit()
  }
}

/** Writes a batch once, after the calls made before it. */
export class WriteOnce implements Task {
  readonly #write: (isBlocking: boolean) => void | Promise<void>
  readonly isAnnounced: boolean

  constructor(write: (isBlocking: boolean) => void | Promise<void>, isAnnounced: boolean) {
    this.#write = write
    this.isAnnounced = isAnnounced
  }

  start(isBlocking: boolean): void | Promise<void> {
    return this.#write(isBlocking)
  }

  /** Nothing remains: the queue has waited for the write that was begun. */
  finish(): void {}
}
