/** Who listens to the event `write`, and what there will be to hear. */

import type { Bytes } from './binding.js'
import type { CarriedOperation, PublicOperation } from './carried-operation.js'
import type { Place } from './place.js'

interface WriteEvent extends PublicOperation {
  encodedKey?: Bytes
  encodedValue?: Bytes
}

/** A database or sublevel that has listeners. */
export class WriteListener {
  readonly place: Place
  #given: object[] = []
  #added: object[] = []

  constructor(place: Place) {
    this.place = place
  }

  /**
   * Notes an operation, if it lies in this key space, and was given or added there. One on a sublevel is shown as what it is
   * for the database.
   *
   * @param from - The prefix of the key space that it was given to.
   * @param isLast - Whether nobody else will see it.
   */
  note(carried: CarriedOperation, from: string, isLast: boolean): void {
    const { prefix, owner } = this.place
    if (!from.startsWith(prefix) || !(carried.origin.addedBy ?? from).startsWith(prefix)) return
    if (carried.prefix !== prefix || carried.isGiven) carried.rebase(prefix, owner)

    const event: WriteEvent = isLast ? carried.operation : Object.assign({}, carried.operation)
    event.encodedKey = carried.key
    if (carried.value !== null) event.encodedValue = carried.value
    if (carried.origin.addedBy === null) this.#given.push(event)
    else this.#added.push(event)
  }

  get mark(): readonly [given: number, added: number] {
    return [this.#given.length, this.#added.length]
  }

  /** Forgets what was noted since. */
  reset([given, added]: readonly [given: number, added: number]): void {
    this.#given.length = given
    this.#added.length = added
  }

  emit(): void {
    const operations = this.#added.length === 0 ? this.#given : this.#given.concat(this.#added)
    if (operations.length > 0) this.place.owner.emit('write', operations)
  }
}

/** Those of an object and the ones that it was made from, the deepest first; null if there are none. */
export function listenersAt(place: Place): WriteListener[] | null {
  let listeners: WriteListener[] | null = null

  for (let at: Place | null = place; at !== null; at = at.parent) {
    if (at.owner.listenerCount('write') === 0) continue
    listeners ??= []
    listeners.push(new WriteListener(at))
  }

  return listeners
}
