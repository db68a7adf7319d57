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
import { type EventContent, type ServerMessage, Tell } from '../protocol/messages.js'
import type { Budget, SharedBytes, Waiter } from './budget.js'

/** Where events come from. */
export interface EventSource {
  readonly subject: 'writes' | 'feed'
  /** Begins to push events to a subscription. Returns how to stop. */
  begin(subscription: Subscription): () => void
}

/** What an event costs. */
export interface EventCost {
  /** What it has in memory for this subscription alone. */
  readonly ownBytes: number
  /** Keys and values that other subscriptions may have as well, and how many of them this one has. */
  readonly shared?: SharedBytes
  readonly sharedBytes?: number
}

/** Something to tell, without a number yet. */
export interface Event extends EventCost {
  readonly content: EventContent
}

/** How events reach the client. */
export interface Outlet {
  /** Whether an event of so many bytes may be packed now. Otherwise {@link Subscription.sendNext} is called once there is room. */
  hasRoom(bytes: number): boolean
  send(message: ServerMessage): void
}

/** What a subscription holds, and may hold. */
export interface SubscriptionLimits {
  /** How many bytes of events to keep. One event alone may be larger. */
  readonly maxKeptBytes: number
  /** What all of its session may keep. */
  readonly budget: Budget
  /** What the subscription has in memory without events. */
  readonly ownBytes: number
}

/** What an event costs beside its keys and values, in bytes. */
export const EVENT_BYTES = 64

/** A source that can wait does so once so much is kept. */
const ENOUGH_BYTES = 256 * 1024

interface Kept {
  readonly message: ServerMessage
  readonly event: Event
}

export class Subscription implements Waiter {
  readonly #source: EventSource
  readonly #handle: number
  readonly #outlet: Outlet
  readonly #limits: SubscriptionLimits
  /** By their numbers, in order. */
  readonly #kept = new Map<number, Kept>()
  #keptBytes = 0
  #lastNumber = 0
  /** The number of the last event that was sent over this connection. */
  #sentNumber = 0
  #ended: ServerMessage | undefined
  #isEndSent = false
  #isClosed = false
  #stop: (() => void) | undefined
  #goOn: (() => void) | undefined

  /** @param handle - The client's number for it. */
  constructor(handle: number, source: EventSource, outlet: Outlet, limits: SubscriptionLimits) {
    this.#handle = handle
    this.#source = source
    this.#outlet = outlet
    this.#limits = limits
    limits.budget.keep(limits.ownBytes)
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
  offer(event: Event): void {
    if (this.isOver) return
    const { maxKeptBytes } = this.#limits
    const isTooMuch = this.#kept.size > 0 && this.#keptBytes + sizeOf(event) > maxKeptBytes
    if (!isTooMuch && this.push(event)) return
    const limit = isTooMuch
      ? `${maxKeptBytes} bytes of events wait for this subscriber; the server keeps no more`
      : 'The server keeps as much for its clients as it may, and has no room for this event'
    this.end(netError('NET_MISSED', `${limit}: read the entries again, then subscribe again`))
  }

  /**
   * Sends an event. A source that can wait calls {@link room} before the next one.
   *
   * @returns False if there is no room to keep it. A source that can wait calls {@link room} with it, and pushes it then.
   */
  push(event: Event): boolean {
    if (this.isOver) return true
    if (!this.#fits(event)) return false
    const number = ++this.#lastNumber
    const message: ServerMessage = [Tell.event, this.#handle, number, ...event.content]
    this.#kept.set(number, { message, event })
    this.#keep(event, 1)
    this.sendNext()
    return true
  }

  /** Sends the next event, or that there will be none, if there is room. Returns whether it did. */
  sendNext(): boolean {
    if (this.#isClosed) return false
    const next = this.#kept.get(this.#sentNumber + 1)
    if (next !== undefined) {
      if (!this.#outlet.hasRoom(sizeOf(next.event))) return false
      this.#sentNumber++
      this.#outlet.send(next.message)
      return true
    }
    if (this.#ended === undefined || this.#isEndSent || !this.#outlet.hasRoom(0)) return false
    this.#isEndSent = true
    this.#outlet.send(this.#ended)
    return true
  }

  /** Resolves once the client has taken most of what was sent and there is room for an event, or no more events are wanted. */
  async room(event?: EventCost): Promise<void> {
    while (!this.isOver && !(this.#hasRoom && (event === undefined || this.#fits(event)))) {
      if (event !== undefined) this.#limits.budget.waitToKeep(this)
      await new Promise<void>((resolve) => {
        this.#goOn = resolve
      })
    }
  }

  /** There may be room for an event. */
  look(): void {
    this.#goOn?.()
  }

  /** The client's consumer has taken the events up to this number. */
  credit(number: number): void {
    for (const [each, { event }] of this.#kept) {
      if (each > number) break
      this.#kept.delete(each)
      this.#keep(event, -1)
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
    while (this.sendNext());
  }

  /** The client wants no more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { event } of this.#kept.values()) this.#keep(event, -1)
    this.#kept.clear()
    this.#release()
    const { budget, ownBytes } = this.#limits
    budget.keep(-ownBytes)
  }

  get #hasRoom(): boolean {
    return this.#keptBytes < Math.min(ENOUGH_BYTES, this.#limits.maxKeptBytes)
  }

  #fits({ ownBytes, shared, sharedBytes = 0 }: EventCost): boolean {
    const { budget } = this.#limits
    return shared === undefined
      ? budget.hasRoomToKeep(ownBytes)
      : shared.hasRoom(budget, sharedBytes, ownBytes)
  }

  /** Notes that an event is kept, or, with a sign of -1, that it is not any more. */
  #keep(event: EventCost, sign: 1 | -1): void {
    const { budget } = this.#limits
    this.#keptBytes += sign * sizeOf(event)
    budget.keep(sign * event.ownBytes)
    event.shared?.keep(budget, sign * (event.sharedBytes ?? 0))
  }

  #release(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#limits.budget.leave(this)
    this.#goOn?.()
  }
}

function sizeOf({ ownBytes, sharedBytes = 0 }: EventCost): number {
  return ownBytes + sharedBytes
}
