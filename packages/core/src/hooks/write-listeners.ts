/** The listeners of the event `write`, and the events that they will get. */

import type { Bytes } from '../backend.js'
import { type Encoder, isWithin } from '../level/database.js'
import type { Namespace } from '../sublevel/namespace.js'
import {
  type CarriedOperation,
  decoded,
  isSame,
  type PublicOperation,
  withoutPrefix
} from '../write/carried-operation.js'
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
  readonly #operations: CarriedOperation[] = []
  /** The events by their operations; made by the first lookup. */
  #byOperation: Map<CarriedOperation, WriteEvent> | undefined

  constructor(namespace: Namespace) {
    this.#namespace = namespace
  }

  /** Notes an operation that passes. If it is on a sublevel that was not made from this object, there is no event here. */
  note(carried: CarriedOperation): void {
    const { owner } = this.#namespace
    if (carried.isDelegated && !isWithin(carried.target, owner)) return
    this.#push(carried.inTermsOf(owner))
  }

  /**
   * Notes an operation that a function with `everyWrite` has added, if both the operation and the function are in this key
   * space.
   */
  noteAdded(carried: CarriedOperation): void {
    const { owner, prefix } = this.#namespace
    if (!carried.prefix.startsWith(prefix) || carried.origin.addedBy?.startsWith(prefix) !== true) return
    this.#push(carried.prefix === prefix && !carried.isDelegated ? carried : carried.inTermsOf(owner))
  }

  /** Forgets the operation that {@link noteAdded} got last: it was not added after all. */
  forgetAdded({ given }: CarriedOperation): void {
    if (this.#operations.at(-1) !== given) return
    this.#operations.pop()
    this.#events.pop()
    this.#byOperation?.delete(given)
  }

  /** Updates an event with what functions with `everyWrite` have made of its operation. */
  revise(carried: CarriedOperation): void {
    this.#byOperation ??= new Map(this.#operations.map((each, i) => [each, this.#events[i] as WriteEvent]))
    const event = this.#byOperation.get(carried.given)
    if (event === undefined) return
    const { type, key, value, keyEncoding, valueEncoding, sublevel, ...others } = carried.operation
    Object.assign(event, others)

    const encodedKey = withoutPrefix(carried.rootKey, this.#namespace.prefix)
    if (encodedKey !== undefined && !isSame(encodedKey, event.encodedKey as Bytes)) {
      const encoding = event.keyEncoding as Encoder
      event.encodedKey = inFormat(encodedKey, encoding.format)
      event.key = decoded(encoding, encodedKey)
    }

    if (carried.value !== null && !isSame(carried.value, event.encodedValue as Bytes)) {
      const encoding = event.valueEncoding as Encoder
      event.encodedValue = inFormat(carried.value, encoding.format)
      event.value = decoded(encoding, carried.value)
    }
  }

  emit(): void {
    if (this.#events.length > 0) this.#namespace.owner.emit('write', this.#events)
  }

  #push(carried: CarriedOperation): void {
    const event: WriteEvent = Object.assign({}, carried.operation)
    event.encodedKey = carried.key
    if (carried.value !== null) event.encodedValue = carried.value
    this.#events.push(event)
    this.#operations.push(carried.given)
    this.#byOperation?.set(carried.given, event)
  }
}
