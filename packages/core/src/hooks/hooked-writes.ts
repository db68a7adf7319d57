/**
 * The operations of one call on their way through the hook functions and to the listeners that see them. They first pass the
 * object that they were given to and those that it was made from ({@link Stage}), then the functions with `everyWrite`.
 */

import type { Bytes } from '../backend.js'
import type { Namespace } from '../sublevel/namespace.js'
import { HookedOperation, type PublicOperation } from '../write/hooked-operation.js'
import { OperationList } from '../write/operation-list.js'
import type { Overlay, Writes } from '../write/write-call.js'
import { EveryWrite } from './every-write.js'
import type { HookReads, Steps } from './hook-reads.js'
import { Stage } from './stage.js'
import type { Watcher } from './watchers.js'
import type { WriteListener } from './write-listeners.js'

/** What matters here of a call. */
export interface HookedCall {
  readonly namespace: Namespace
  /** The name of the method, for errors. */
  readonly method: string
  /** The objects that see the call, as they were when it was made. */
  readonly watchers: readonly Watcher[]
  readonly operations: ReadonlyArray<PublicOperation | HookedOperation>
}

const noListeners: readonly WriteListener[] = Object.freeze([])

export class HookedWrites implements Writes {
  readonly #call: HookedCall
  readonly #before: OperationList | null
  #listeners = noListeners
  #now: Overlay | null = null
  #list: OperationList | null = null

  /**
   * @param before - Operations of other calls that will be written in the same batch, before these.
   * @param listener - A listener that has already noted the operations.
   */
  constructor(call: HookedCall, before: OperationList | null, listener: WriteListener | null = null) {
    this.#call = call
    this.#before = before
    if (listener !== null) this.#listeners = [listener]
  }

  /** The operations to write. */
  get list(): OperationList {
    this.#list ??= new OperationList()
    return this.#list
  }

  get length(): number {
    return this.list.length
  }

  /** Shows the operations to the functions. If this throws, none may be written. */
  take(): void {
    const { namespace, method, watchers, operations: given } = this.#call
    const { keySpaces } = namespace.store
    let stage: Stage | null = null
    let operations: readonly HookedOperation[] | null = null

    for (const watcher of watchers) {
      stage = new Stage(watcher)
      this.#now = stage
      // As in abstract-level, the functions of the object that got the operations see each one before the next is checked.
      if (watcher.below === null) for (const each of given) stage.take(this.#checked(each), method)
      else for (const each of operations ?? this.#allChecked()) stage.take(each, method)

      operations = stage.operations
      const events = stage.events()
      if (events !== null) this.#listeners = [...this.#listeners, events]
    }

    if (!keySpaces.isEmpty) {
      const everyWrite = new EveryWrite(namespace.store, this.#listeners, method)
      this.#now = everyWrite
      for (const each of operations ?? this.#allChecked()) everyWrite.take(each.restored())
      this.#list = everyWrite.list
    } else if (stage !== null) {
      this.#list = stage.list
    } else {
      for (const { rootKey, value } of this.#allChecked()) this.list.push(rootKey, value)
    }
  }

  /** Like {@link take}, for functions that may have to wait for what they read. */
  *takeInSteps(reads: HookReads): Steps {
    const { namespace, method, watchers, operations: given } = this.#call
    let stage: Stage | null = null
    let operations: readonly HookedOperation[] | null = null

    for (const watcher of watchers) {
      stage = new Stage(watcher)
      this.#now = stage
      // The functions of the object that got the operations see each one before the next is checked.
      if (watcher.below === null) {
        for (const each of given) yield* stage.takeInSteps(reads, this.#checked(each), method)
      } else {
        for (const each of operations ?? this.#allChecked()) yield* stage.takeInSteps(reads, each, method)
      }

      operations = stage.operations
      const events = stage.events()
      if (events !== null) this.#listeners = [...this.#listeners, events]
    }

    if (namespace.store.keySpaces.isEmpty && stage !== null) {
      this.#list = stage.list
      return
    }

    const everyWrite = new EveryWrite(namespace.store, this.#listeners, method)
    this.#now = everyWrite
    const restored = (operations ?? this.#allChecked()).map((each) => each.restored())
    yield* everyWrite.takeAllInSteps(reads, restored)
    this.#list = everyWrite.list
  }

  #allChecked(): HookedOperation[] {
    return this.#call.operations.map((operation) => this.#checked(operation))
  }

  #checked(operation: PublicOperation | HookedOperation): HookedOperation {
    const { owner, store } = this.#call.namespace
    return operation instanceof HookedOperation ? operation : HookedOperation.of(operation, owner, store.root)
  }

  find(identity: string): Bytes | null | undefined {
    const found = this.#now?.find(identity)
    return found !== undefined ? found : this.#before?.find(identity)
  }

  /** Whether anyone listens. */
  get hasListeners(): boolean {
    return this.#listeners.length > 0
  }

  /** Emits the event `write`, on the root first. Call it once the operations are written. */
  emit(): void {
    for (let index = this.#listeners.length - 1; index >= 0; index--) this.#listeners[index]?.emit()
  }
}
