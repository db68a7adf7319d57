/** The listeners of the event `write`, and the events that they will get. */

import type { Bytes } from '../backend.js'
import { type Encoder, isWithin } from '../level/database.js'
import type { Namespace } from '../sublevel/namespace.js'
import {
  decoded,
  type HookedOperation,
  isSame,
  type PublicOperation,
  withoutPrefix
} from '../write/hooked-operation.js'
import { inFormat } from '../write/operation-list.js'

interface WriteEvent extends PublicOperation {
  encodedKey?: Bytes
  encodedValue?: Bytes
}

/** A database or sublevel that has listeners. */
export class WriteListener {
  readonly #namespace: Namespace
  readonly #events: WriteEvent[] = []
  /** The operations of the events, in the form in which they were first given. */
  readonly #operations: HookedOperation[] = []
  /** The events by their operations; made by the first lookup. */
  #byOperation: Map<HookedOperation, WriteEvent> | undefined

  constructor(namespace: Namespace) {
    this.#namespace = namespace
  }

  /** Notes an operation that passes. If it is on a sublevel that was not made from this object, there is no event here. */
  note(hooked: HookedOperation): void {
    const { owner } = this.#namespace
    if (hooked.isDelegated && !isWithin(hooked.target, owner)) return
    this.#push(hooked.inTermsOf(owner))
  }

  /**
   * Notes an operation that a function with `everyWrite` has added, if both the operation and the function are in this key
   * space.
   */
  noteAdded(hooked: HookedOperation): void {
    const { owner, prefix } = this.#namespace
    if (!hooked.prefix.startsWith(prefix) || hooked.origin.addedBy?.startsWith(prefix) !== true) return
    this.#push(hooked.prefix === prefix && !hooked.isDelegated ? hooked : hooked.inTermsOf(owner))
  }

  /** Forgets the operation that {@link noteAdded} got last: it was not added after all. */
  forgetAdded({ given }: HookedOperation): void {
    if (this.#operations.at(-1) !== given) return
    this.#operations.pop()
    this.#events.pop()
    this.#byOperation?.delete(given)
  }

  /** Updates an event with what functions with `everyWrite` have made of its operation. */
  revise(hooked: HookedOperation): void {
    this.#byOperation ??= new Map(this.#operations.map((each, i) => [each, this.#events[i] as WriteEvent]))
    const event = this.#byOperation.get(hooked.given)
    if (event === undefined) return
    const { type, key, value, keyEncoding, valueEncoding, sublevel, ...others } = hooked.operation
    Object.assign(event, others)

    const encodedKey = withoutPrefix(hooked.rootKey, this.#namespace.prefix)
    if (encodedKey !== undefined && !isSame(encodedKey, event.encodedKey as Bytes)) {
      const encoding = event.keyEncoding as Encoder
      event.encodedKey = inFormat(encodedKey, encoding.format)
      event.key = decoded(encoding, encodedKey)
    }

    if (hooked.value !== null && !isSame(hooked.value, event.encodedValue as Bytes)) {
      const encoding = event.valueEncoding as Encoder
      event.encodedValue = inFormat(hooked.value, encoding.format)
      event.value = decoded(encoding, hooked.value)
    }
  }

  emit(): void {
    if (this.#events.length > 0) this.#namespace.owner.emit('write', this.#events)
  }

  #push(hooked: HookedOperation): void {
    const event: WriteEvent = Object.assign({}, hooked.operation)
    event.encodedKey = hooked.key
    if (hooked.value !== null) event.encodedValue = hooked.value
    this.#events.push(event)
    this.#operations.push(hooked.given)
    this.#byOperation?.set(hooked.given, event)
  }
}
