/**
 * A subscription of a client: numbered events, each of which is kept until the client's consumer has taken it.
 *
 * ```text
 *   source ──▶ event: numbered, kept ──▶ room in the connection: sent ──▶ credit from the client: forgotten
 *                           └── connection lost: all that are kept are sent again over the next one
 * ```
 *
 * What is kept are references: an event of a hundred subscriptions has its bytes once. They are packed when there is room for them.
 */

import { described, netError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import { Tell } from '../protocol/messages.js'

/** Where events come from. */
export interface EventSource {
  readonly subject: 'writes' | 'feed'
  /** Begins to push events to a subscription. Returns how to stop. */
  begin(subscription: Subscription): () => void
}

/** How events reach the client. */
export interface Outlet {
  /** Whether an event may be packed now. Otherwise {@link Subscription.sendNext} is called once there is room. */
  readonly hasRoom: boolean
  send(message: Message): void
}

/** What an event costs beside its keys and values, in bytes. */
export const EVENT_BYTES = 64

/** A source that can wait does so once so much is kept. */
const ENOUGH_BYTES = 256 * 1024

interface Kept {
  readonly message: Message
  readonly bytes: number
}

export class Subscription {
  readonly #source: EventSource
  readonly #handle: number
  readonly #outlet: Outlet
  readonly #maxKeptBytes: number
  /** By their numbers, in order. */
  readonly #kept = new Map<number, Kept>()
  #keptBytes = 0
  #lastNumber = 0
  /** The number of the last event that was sent over this connection. */
  #sentNumber = 0
  #ended: Message | undefined
  #isEndSent = false
  #isClosed = false
  #stop: (() => void) | undefined
  #goOn: (() => void) | undefined

  /**
   * @param handle - The client's number for it.
   * @param maxKeptBytes - How many bytes of events to keep. One event alone may be larger.
   */
  constructor(handle: number, source: EventSource, outlet: Outlet, maxKeptBytes: number) {
    this.#handle = handle
    this.#source = source
    this.#outlet = outlet
    this.#maxKeptBytes = maxKeptBytes
  }

  begin(): void {
    this.#stop = this.#source.begin(this)
  }

  /** What it is about. */
  get subject(): EventSource['subject'] {
    return this.#source.subject
  }

  /** Whether no more events are wanted. */
  get isOver(): boolean {
    return this.#isClosed || this.#ended !== undefined
  }

  /** Sends an event that cannot wait. If the client is too far behind, the subscription ends instead. */
  offer(bytes: number, ...parts: unknown[]): void {
    if (this.#kept.size > 0 && this.#keptBytes + bytes > this.#maxKeptBytes) {
      const limit = `${this.#maxKeptBytes} bytes of events wait for this subscriber`
      this.end(
        netError('NET_MISSED', `${limit}; the server keeps no more: read the entries, and subscribe again`)
      )
    } else this.push(bytes, ...parts)
  }

  /** Sends an event. A source that can wait calls {@link room} before the next one. */
  push(bytes: number, ...parts: unknown[]): void {
    if (this.isOver) return
    const number = ++this.#lastNumber
    const message: Message = [Tell.event, this.#handle, number, ...parts]
    this.#kept.set(number, { message, bytes })
    this.#keptBytes += bytes
    if (this.#outlet.hasRoom) this.sendNext()
  }

  /** Sends the next event, or that there will be none. Returns whether there was anything to send. */
  sendNext(): boolean {
    if (this.#isClosed) return false
    const next = this.#kept.get(this.#sentNumber + 1)
    if (next !== undefined) {
      this.#sentNumber++
      this.#outlet.send(next.message)
      return true
    }
    if (this.#ended === undefined || this.#isEndSent) return false
    this.#isEndSent = true
    this.#outlet.send(this.#ended)
    return true
  }

  /** Resolves once the client has taken most of what was sent, or no more events are wanted. */
  async room(): Promise<void> {
    if (this.isOver || this.#hasRoom) return
    await new Promise<void>((resolve) => {
      this.#goOn = resolve
    })
  }

  /** The client's consumer has taken the events up to this number. */
  credit(number: number): void {
    for (const [each, { bytes }] of this.#kept) {
      if (each > number) break
      this.#kept.delete(each)
      this.#keptBytes -= bytes
    }
    this.#sentNumber = Math.max(this.#sentNumber, Math.min(number, this.#lastNumber))
    if (this.#hasRoom) this.#goOn?.()
  }

  /** There is another connection, over which everything is sent that the client may not have received. */
  beginAgain(): void {
    const [first] = this.#kept.keys()
    this.#sentNumber = first === undefined ? this.#lastNumber : first - 1
    this.#isEndSent = false
  }

  /** Sends nothing more, and tells the client why. What was sent before is still kept for it. */
  end(error: unknown): void {
    if (this.isOver) return
    this.#ended = [Tell.ended, this.#handle, this.#lastNumber, ...described(error)]
    this.#release()
    if (this.#outlet.hasRoom) while (this.sendNext()) if (!this.#outlet.hasRoom) return
  }

  /** The client wants no more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#kept.clear()
    this.#release()
  }

  get #hasRoom(): boolean {
    return this.#keptBytes < Math.min(ENOUGH_BYTES, this.#maxKeptBytes)
  }

  #release(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#goOn?.()
  }
}
