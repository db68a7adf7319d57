/** Operations of a chained batch that hook functions or listeners see. */

import type { Bytes } from './backend.js'
import { CarriedOperation, keepBytes, type PublicOperation } from './carried-operation.js'
import { HookedWrites } from './hooked-writes.js'
import type { Namespace } from './namespace.js'
import { Stage } from './stage.js'
import { type Watcher, watchersFrom } from './watchers.js'
import type { Task } from './write-queue.js'

export class HookedBatch {
  readonly #namespace: Namespace
  /** By the functions of the object that the batch was made from, which run when an operation is added. */
  readonly #stage: Stage
  #writes: HookedWrites | null = null

  /** @param watcher - That object, as it was then. */
  constructor(namespace: Namespace, watcher: Watcher) {
    this.#namespace = namespace
    this.#stage = new Stage(watcher)
  }

  get length(): number {
    return this.#stage.length
  }

  /** Takes an operation; see {@link Stage.take}. */
  add(method: string, operation: PublicOperation): void {
    const { owner, store } = this.#namespace
    keepBytes(operation)
    const carried = CarriedOperation.of(operation, owner, store.root)
    store.queue.run(this.#stage, () => this.#stage.take(carried, method))
  }

  clear(): void {
    this.#stage.clear()
  }

  /** What is to be written now. All other functions run. */
  flat(): Array<Bytes | null> {
    const { owner, parent, store } = this.#namespace
    const { operations } = this.#stage
    const watchers = watchersFrom(parent, owner)
    const call = { namespace: this.#namespace, method: 'batch.write', watchers, operations }
    const writes = new HookedWrites(call, null, this.#stage.events())
    store.queue.run(writes, () => writes.take())
    this.#writes = writes
    return writes.list.flat
  }

  /** Emits the event `write`. */
  emit(): void {
    this.#writes?.emit()
  }
}

/** The writing of a batch, after what was called before. */
export class WriteOnce implements Task {
  readonly #write: (isBlocking: boolean) => void | Promise<void>

  constructor(write: (isBlocking: boolean) => void | Promise<void>) {
    this.#write = write
  }

  start(isBlocking: boolean): void | Promise<void> {
    return this.#write(isBlocking)
  }

  /** The native write that was begun has been waited for. */
  finish(): void {}
}
