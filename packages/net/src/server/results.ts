/** The results of requests that must not be done twice, until the client says that it has them. */

import { copyOf } from '../protocol/bytes.js'
import { packMessage, Tell } from '../protocol/messages.js'
import { type Budget, SMALL_BYTES } from './budget.js'

/** Results that a client may leave unreceived. Ours lets a few hundred come together. */
const MAX_RESULTS = 100_000

/** What is kept of a request besides the bytes of its result. */
const RESULT_BYTES = 128

/** A packed result, or what became of it. */
type Kept = Uint8Array | 'pending' | 'nothing' | 'forgotten'

export class Results {
  /** By request, in the order in which the requests came. */
  readonly #kept = new Map<number, Kept>()
  readonly #budget: Budget

  /** @param budget - That of the session. */
  constructor(budget: Budget) {
    this.#budget = budget
  }

  /** How many there are, those that are not there yet included. */
  get size(): number {
    return this.#kept.size
  }

  /** Whether the client has left so many that no further request can be taken. */
  get isFull(): boolean {
    if (this.size * RESULT_BYTES < SMALL_BYTES) return false
    return this.size >= MAX_RESULTS || !this.#budget.hasRoomToKeep(RESULT_BYTES)
  }

  /** A request has come, which was not there before. */
  begin(number: number): void {
    this.#kept.set(number, 'pending')
    this.#budget.keep(RESULT_BYTES)
  }

  /**
   * Keeps the result of a request that has begun. If there is no room for it, only that there was one is kept.
   *
   * @param frame - The result, packed; undefined for a request that returns nothing.
   */
  keep(number: number, frame?: Uint8Array): void {
    if (!this.#kept.has(number)) return
    if (frame === undefined) this.#kept.set(number, 'nothing')
    else if (!this.#budget.hasRoomToKeep(frame.length)) this.#kept.set(number, 'forgotten')
    else {
      // A copy: what is packed lies in a larger buffer.
      this.#kept.set(number, copyOf(frame))
      this.#budget.keep(frame.length)
    }
  }

  /** The packed result of a request, if it is there. */
  of(number: number): Uint8Array | undefined {
    const kept = this.#kept.get(number)
    if (kept === 'nothing') return packMessage([Tell.result, number, null])
    return kept === 'forgotten' ? forgotten(number) : kept === 'pending' ? undefined : kept
  }

  /** Forgets the results of these requests, and those of all before `oldest`, for which the client does not wait any more. */
  received(numbers: readonly number[], oldest: number): void {
    for (const number of numbers) this.#forget(number)
    for (const number of this.#kept.keys()) {
      if (number >= oldest) return
      this.#forget(number)
    }
  }

  /** Forgets all of them. */
  clear(): void {
    for (const [number, kept] of this.#kept) this.#drop(number, kept)
  }

  #forget(number: number): void {
    const kept = this.#kept.get(number)
    if (kept !== undefined && kept !== 'pending') this.#drop(number, kept)
  }

  #drop(number: number, kept: Kept): void {
    this.#kept.delete(number)
    this.#budget.keep(-RESULT_BYTES - (typeof kept === 'string' ? 0 : kept.length))
  }
}

function forgotten(number: number): Uint8Array {
  const message =
    'The server executed this call, but its result was lost with a connection: read what the call may have changed'
  return packMessage([Tell.failure, number, 'NET_WRITE_UNKNOWN', message])
}
