/** Operations of a chained batch that hook functions or listeners see. */

import type { Bytes } from './binding.js'
import { keepBytes, type PublicOperation } from './carried-operation.js'
import { HookedWrites } from './hooked-writes.js'
import type { Place } from './place.js'
import type { Task } from './write-queue.js'

export class HookedBatch {
  readonly #place: Place
  readonly #latest: number
  /** As they were given. */
  readonly #given: PublicOperation[] = []
  #writes: HookedWrites
  /** How often something had been written when the first functions ran; -1 if they ran before earlier writes were done. */
  #writesBefore: number

  /** @param latest - Functions without `everyWrite` that were added later do not count. */
  constructor(place: Place, latest: number) {
    this.#place = place
    this.#latest = latest
    this.#writes = this.#begin('batch')
    this.#writesBefore = this.#now
  }

  get length(): number {
    return this.#writes.length
  }

  /** Takes an operation; see {@link HookedWrites.take}. */
  add(method: string, operation: PublicOperation): void {
    const { queue } = this.#place.store
    if (this.#given.length === 0) this.#writesBefore = this.#now

    keepBytes(operation)
    const copy = { ...operation }
    this.#writes.method = method
    queue.run(this.#writes, () => this.#writes.take(operation))
    this.#given.push(copy)
  }

  clear(): void {
    this.#given.length = 0
    this.#writes.clear()
  }

  /** What is to be written now. The functions run once more if what they read may have changed. */
  flat(): Array<Bytes | null> {
    if (this.#writes.hasRead && this.#writesBefore !== this.#place.store.writes) this.#again()
    return this.#writes.list.flat
  }

  /** Emits the event `write`. */
  emit(): void {
    this.#writes.emit()
  }

  #again(): void {
    const { queue } = this.#place.store
    const writes = this.#begin('batch.write')

    queue.run(writes, () => {
      for (const operation of this.#given) writes.take({ ...operation })
    })
    this.#writes = writes
  }

  #begin(method: string): HookedWrites {
    return new HookedWrites(this.#place, method, { latest: this.#latest })
  }

  get #now(): number {
    const { queue, writes } = this.#place.store
    return queue.hasPending ? -1 : writes
  }
}

/** The writing of a batch, behind what was called before. */
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
