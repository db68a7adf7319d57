/**
 * The order of writes. The engine gets one batch at a time, since under load it may apply those that wait in any order. What is
 * called in the meantime becomes one batch, the next.
 */

import type { Bytes, Operations } from 'terrace-core'
import type { NativeBatch } from './binding.js'
import { storedKey, storedValue } from './keys.js'
import { Outcome } from './outcome.js'

/** Above this size, a batch takes no further writes. */
const GROUP_BYTES = 4 * 1024 * 1024

/** What the queue needs of the engine. */
export interface Engine {
  newBatch(): NativeBatch
  /** Gives a batch to the engine, within the call. Settles when it has been applied in memory. */
  accept(batch: NativeBatch): Promise<unknown>
}

/** Writes that go to the engine together. */
export class Group {
  readonly batch: NativeBatch
  /** Settles when the engine has applied the batch in memory. */
  readonly accepted = new Outcome()
  #sizeBytes = 0

  constructor(batch: NativeBatch) {
    this.batch = batch
  }

  get isFull(): boolean {
    return this.#sizeBytes >= GROUP_BYTES
  }

  add(operations: Operations): void {
    for (let i = 0; i < operations.length; i += 2) {
      const value = operations[i + 1] as Bytes | null
      this.#put(storedKey(operations[i] as Bytes), value === null ? null : storedValue(value))
    }
  }

  #put(key: Buffer, value: Uint8Array | null): void {
    // The engine copies both within the call.
    if (value === null) this.batch.delete(key)
    else this.batch.put(key, value)
    this.#sizeBytes += key.length + (value?.length ?? 0)
  }
}

/** Work that reads and writes in its place among the writes. */
class Task {
  readonly outcome = new Outcome()
  readonly work: () => Promise<void>

  constructor(work: () => Promise<void>) {
    this.work = work
  }
}

export class WriteQueue {
  readonly #engine: Engine
  readonly #items: Array<Group | Task> = []
  #isBusy = false
  /** How many snapshots are being taken. What is called after them has to wait. */
  #holds = 0
  #refusal: Error | undefined

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Why writes are refused; undefined if they are not. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** Adds a write. Its operations are copied within the call. */
  add(operations: Operations): Group {
    const last = this.#items.at(-1)
    if (last instanceof Group && !last.isFull) {
      last.add(operations)
      return last
    }

    const group = new Group(this.#engine.newBatch())
    group.add(operations)
    this.#items.push(group)
    this.#next()
    return group
  }

  /** Does some work after all earlier writes have been applied. Later ones wait until it has ended. */
  run(work: () => Promise<void>): Promise<void> {
    const task = new Task(work)
    this.#items.push(task)
    this.#next()
    return task.outcome.promise
  }

  /** Applies operations within a task. */
  apply(operations: Operations): Promise<unknown> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    const group = new Group(this.#engine.newBatch())
    group.add(operations)
    return this.#engine.accept(group.batch)
  }

  /** Lets later writes wait until something has settled. */
  hold(work: Promise<unknown>): void {
    this.#holds++
    const release = (): void => {
      this.#holds--
      this.#next()
    }
    work.then(release, release)
  }

  /** Refuses what has not been given to the engine, and everything that is called from now on. */
  refuse(reason: Error): void {
    this.#refusal ??= reason
    this.#next()
  }

  #next(): void {
    while (!this.#isBusy && this.#holds === 0 && this.#items.length > 0) {
      const item = this.#items.shift() as Group | Task
      const outcome = item instanceof Group ? item.accepted : item.outcome
      if (this.#refusal !== undefined) outcome.reject(this.#refusal)
      else this.#start(item instanceof Group ? this.#engine.accept(item.batch) : item.work(), outcome)
    }
  }

  #start(work: Promise<unknown>, outcome: Outcome): void {
    this.#isBusy = true
    work.then(outcome.resolve as () => void, outcome.reject).finally(() => {
      this.#isBusy = false
      this.#next()
    })
  }
}
