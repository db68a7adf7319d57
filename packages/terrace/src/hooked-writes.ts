/**
 * The operations of one call on their way through the hook functions and to the listeners that see them: first by the object
 * that they were given to and those that it was made from ({@link Stage}), then by the functions with `everyWrite`.
 */

import type { Bytes } from './binding.js'
import { CarriedOperation, type PublicOperation } from './carried-operation.js'
import { EveryWrite } from './every-write.js'
import { identityOf, OperationList } from './operation-list.js'
import type { Place } from './place.js'
import { Stage } from './stage.js'
import type { Watcher } from './watchers.js'
import type { WriteListener } from './write-listeners.js'

/** What hook functions read while they run, besides what is stored. */
export interface Overlay {
  /**
   * What a key will be, by the operations up to now: null if it is deleted, undefined if they leave it alone.
   *
   * @param identity - Of the key, by {@link identityOf}.
   */
  find(identity: string): Bytes | null | undefined
}

export interface HookedWritesOptions {
  readonly place: Place
  /** Of the call, for its errors. */
  readonly method: string
  readonly watchers: readonly Watcher[]
  /** Operations of other calls that will be written in the same batch, before these. */
  readonly before?: OperationList | null
  /** Where the operations have come by already. */
  readonly first?: Stage
}

export class HookedWrites implements Overlay {
  readonly #options: HookedWritesOptions
  readonly #listeners: WriteListener[] = []
  #now: Overlay | null = null
  /** What is to be written. */
  list = new OperationList()

  constructor(options: HookedWritesOptions) {
    this.#options = options
    const events = options.first?.events()
    if (events != null) this.#listeners.push(events)
  }

  get length(): number {
    return this.list.length
  }

  /** Has the functions see operations. If it throws, none is to be written. */
  take(given: ReadonlyArray<PublicOperation | CarriedOperation>): void {
    const { place, method, watchers } = this.#options
    const { keySpaces } = place.store
    let stage: Stage | null = null
    let operations: readonly CarriedOperation[] | null = null

    for (const watcher of watchers) {
      stage = new Stage(watcher)
      this.#now = stage
      // As in abstract-level the functions of the object that operations are given to see one before the next is checked.
      if (watcher.below === null) for (const each of given) stage.take(this.#checked(each), method)
      else for (const each of operations ?? given.map(this.#checked)) stage.take(each, method)

      operations = stage.operations
      const events = stage.events()
      if (events !== null) this.#listeners.push(events)
    }

    if (stage !== null && keySpaces.isEmpty) {
      this.list = stage.list
      return
    }

    operations ??= given.map(this.#checked)
    if (keySpaces.isEmpty) {
      for (const { rootKey, value } of operations) this.list.push(rootKey, value)
      return
    }

    const everyWrite = new EveryWrite(place.store, this.#listeners, method)
    this.#now = everyWrite
    for (const each of operations) everyWrite.take(each.restored())
    this.list = everyWrite.list
  }

  readonly #checked = (operation: PublicOperation | CarriedOperation): CarriedOperation => {
    const { owner, store } = this.#options.place
    return operation instanceof CarriedOperation
      ? operation
      : CarriedOperation.of(operation, owner, store.root)
  }

  find(identity: string): Bytes | null | undefined {
    const found = this.#now?.find(identity)
    return found !== undefined ? found : this.#options.before?.find(identity)
  }

  /** Whether somebody listens. */
  get isHeard(): boolean {
    return this.#listeners.length > 0
  }

  /** Emits the event `write`, on the root first. To be called once they are written. */
  emit(): void {
    for (let index = this.#listeners.length - 1; index >= 0; index--) this.#listeners[index]?.emit()
  }
}
