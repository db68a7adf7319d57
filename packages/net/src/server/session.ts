/**
 * What the server keeps for a client, from one connection to the next: its cursors, its snapshots, its subscriptions, and the
 * results that it may not have received. A request that comes again, because a connection was lost, is not done again:
 *
 * ```text
 *   request ──▶ number above the last one? ──▶ done, and its result kept ──▶ received by the client: forgotten
 *                    └── not above: the kept result is sent again, or will be once it is there
 * ```
 *
 * Reads of keys are the exception: they are done again, and nothing is kept of them.
 */

import { randomBytes } from 'node:crypto'
import type { AbstractSnapshot } from 'abstract-level'
import { described, netError, protocolError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import { PartReader, Tell } from '../protocol/messages.js'
import type { Limits, User } from './options.js'
import { allPermissions, Guard } from './permissions.js'
import type { Request } from './requests.js'
import type { Host } from './server.js'
import type { ServerCursor } from './server-cursor.js'
import type { Subscription } from './subscription.js'

const TICKET_BYTES = 16

/** Results that a client may leave unreceived. Ours lets a few hundred come together. */
const MAX_RESULTS = 100_000

/** How a session reaches its client. */
export interface Channel {
  readonly unsentBytes: number
  send(message: Message): void
  /** The session can take more requests again. */
  proceed(): void
}

export class Session {
  readonly host: Host
  readonly user: User | null
  readonly guard: Guard
  readonly limits: Limits
  /** The secret by which the client finds its session again. */
  readonly ticket = randomBytes(TICKET_BYTES)
  readonly cursors = new Map<number, ServerCursor>()
  readonly snapshots = new Map<number, AbstractSnapshot>()
  readonly subscriptions = new Map<number, Subscription>()
  #channel: Channel | null = null
  #lastNumber = 0
  /** Results by request; undefined while a request is being worked on. */
  readonly #results = new Map<number, Message | undefined>()
  #running = 0
  #idle: (() => void) | undefined
  #expiry: NodeJS.Timeout | undefined

  constructor(host: Host, user: User | null) {
    this.host = host
    this.user = user
    this.limits = host.limits
    this.guard = new Guard(user?.permissions ?? allPermissions)
  }

  /** Whether further requests should wait. */
  get isBusy(): boolean {
    const { requestsAtOnce, unsentBytes } = this.limits
    return this.#running >= requestsAtOnce || (this.#channel?.unsentBytes ?? 0) >= unsentBytes
  }

  /** Uses another connection from now on. */
  attach(channel: Channel): void {
    clearTimeout(this.#expiry)
    this.#channel = channel
  }

  /** The connection is lost. Without another one, the session ends after a while. */
  detach(channel: Channel): void {
    if (this.#channel !== channel) return
    this.#channel = null
    this.#expiry = setTimeout(() => this.host.endSession(this), this.limits.sessionMs)
    this.#expiry.unref()
  }

  /**
   * Does what a client asks for.
   *
   * @throws NET_PROTOCOL if that makes no sense.
   */
  take(message: Message, request: Request): void {
    const parts = new PartReader(message)
    const number = parts.number('number')
    if (number <= this.#lastNumber && !request.isRepeatable) {
      this.#repeat(number)
      return
    }
    this.#lastNumber = Math.max(this.#lastNumber, number)
    if (!request.isRepeatable) {
      if (this.#results.size >= MAX_RESULTS) throw protocolError('Results are not acknowledged')
      this.#results.set(number, undefined)
    }

    this.#running++
    let result: unknown
    try {
      result = this.host.isClosing ? Promise.reject(closing()) : request.run(this, parts)
    } catch (error) {
      result = Promise.reject(error)
    }

    if (result instanceof Promise) {
      result.then(
        (value) => this.#done(number, [Tell.result, number, value]),
        (error) => this.#done(number, [Tell.failure, number, ...described(error)])
      )
    } else this.#done(number, [Tell.result, number, result])
  }

  /** Forgets results that the client has. */
  received(numbers: readonly number[]): void {
    for (const number of numbers) if (this.#results.get(number) !== undefined) this.#results.delete(number)
  }

  /** Forgets events that the client's consumer has taken. */
  credit(parts: PartReader): void {
    this.subscriptions.get(parts.number('handle'))?.credit(parts.number('event'))
  }

  /** Sends the events again that may have been lost with the last connection. */
  resendEvents(): void {
    for (const subscription of this.subscriptions.values()) subscription.resend()
  }

  /** Sends something that nobody has asked for with a number. */
  send(message: Message): void {
    this.#channel?.send(message)
  }

  /** Resolves once nothing is being worked on. */
  async idle(): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
  }

  /** Releases everything. */
  async end(): Promise<void> {
    clearTimeout(this.#expiry)
    this.#channel = null
    for (const subscription of this.subscriptions.values()) subscription.close()
    this.subscriptions.clear()
    const cursors = [...this.cursors.values()]
    this.cursors.clear()
    await Promise.allSettled(cursors.map((cursor) => cursor.close()))
    const snapshots = [...this.snapshots.values()]
    this.snapshots.clear()
    await Promise.allSettled(snapshots.map((snapshot) => snapshot.close()))
  }

  #repeat(number: number): void {
    const result = this.#results.get(number)
    if (result !== undefined) this.#channel?.send(result)
  }

  #done(number: number, message: Message): void {
    const wasBusy = this.isBusy
    this.#running--
    if (this.#results.has(number)) this.#results.set(number, message)
    this.#channel?.send(message)
    if (wasBusy && !this.isBusy) this.#channel?.proceed()
    if (this.#running === 0) this.#idle?.()
  }
}

function closing(): Error {
  return netError('NET_CLOSING', 'The server is shutting down')
}
