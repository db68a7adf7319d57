/** The results of requests that must not be done twice, until the client says that it has them. */

import type { Message } from '../protocol/frame.js'
import { Tell } from '../protocol/messages.js'

/** Results that a client may leave unreceived. Ours lets a few hundred come together. */
const MAX_RESULTS = 100_000

/** What the kept results may hold together. */
const MAX_BYTES = 4 << 20

interface Kept {
  readonly message: Message
  readonly bytes: number
}

export class Results {
  /** By request, in the order in which they came; undefined while a request is being worked on. */
  readonly #kept = new Map<number, Kept | undefined>()
  #bytes = 0

  /** How many there are, those that are not there yet included. */
  get size(): number {
    return this.#kept.size
  }

  get isFull(): boolean {
    return this.size >= MAX_RESULTS
  }

  /** A request has come, which was not there before. */
  begin(number: number): void {
    this.#kept.set(number, undefined)
  }

  /** Keeps a result. If the client has left too much lying already, only that there was one is kept. */
  keep(number: number, message: Message, bytes: number): void {
    const isTooMuch = this.#bytes + bytes > MAX_BYTES
    const kept = isTooMuch ? { message: forgotten(number), bytes: 0 } : { message, bytes }
    this.#kept.set(number, kept)
    this.#bytes += kept.bytes
  }

  /** The result of a request, if it is there. */
  of(number: number): Message | undefined {
    return this.#kept.get(number)?.message
  }

  /** Forgets the results of these requests, and those of all before `oldest`, for which the client does not wait any more. */
  received(numbers: readonly number[], oldest: number): void {
    for (const number of numbers) this.#forget(number)
    for (const number of this.#kept.keys()) {
      if (number >= oldest) return
      this.#forget(number)
    }
  }

  #forget(number: number): void {
    const kept = this.#kept.get(number)
    if (kept === undefined) return
    this.#kept.delete(number)
    this.#bytes -= kept.bytes
  }
}

function forgotten(number: number): Message {
  const message = 'This was done, but its result was lost with a connection and is not kept any longer'
  return [Tell.failure, number, 'NET_WRITE_UNKNOWN', message]
}
