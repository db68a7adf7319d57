/**
 * What the server keeps for a client from one connection to the next: its cursors, snapshots and subscriptions, and the
 * results that it may not have received. A request that arrives again, because a connection was lost, is not executed again:
 *
 * ```text
 *   request ──▶ number above the last one? ──▶ executed, and its result kept ──▶ received by the client: forgotten
 *                    └── not above: the kept result is sent again, now or once it is ready
 * ```
 *
 * Reads of keys are the exception: they are repeated, and their results are not kept.
 */

import { randomBytes } from 'node:crypto'
import type { AbstractSnapshot } from 'abstract-level'
import { described, netError, protocolError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import { MAX_BUFFERED_BYTES, PART_BYTES } from '../protocol/limits.js'
import {
  numberOf,
  packMessage,
  type RequestForm,
  readRequest,
  type ServerMessage,
  Tell
} from '../protocol/messages.js'
import { packBytes } from '../protocol/pack-bytes.js'
import { timerMs } from '../protocol/timer.js'
import type { Budget, Waiter } from './budget.js'
import type { Calls } from './calls.js'
import type { ServedFeed } from './feed-source.js'
import type { Limits, Method, User } from './options.js'
import { Guard, type Permissions } from './permissions.js'
import { Rate } from './rate.js'
import type { Reads } from './reads.js'
import { Results } from './results.js'
import type { ServedDatabase } from './served-database.js'
import type { ServerCursor } from './server-cursor.js'
import type { Statistics } from './statistics.js'
import type { Subscription } from './subscription.js'
import type { WriteSource } from './watching.js'

const TICKET_BYTES = 16

/** The memory that a snapshot, an iterator or a subscription takes besides its keys. */
export const RESOURCE_BYTES = 512

/** A result or a failure. */
type Answer = Extract<ServerMessage, readonly [typeof Tell.result | typeof Tell.failure, ...unknown[]]>

/** A running request. */
export interface Work {
  readonly request: Request
  readonly kind: number
  readonly requestBytes: number
  /** How much memory it holds: the request, and what was read for it. */
  bytes: number
  /** The size of its result, if that found no room. */
  resultBytes: number
  /** Whether it proceeds although there is no room. */
  isExempt: boolean
  /** How many values it reads. */
  values: number
  readonly startedAt: number
  readonly message: Message
}

/** A kind of request. */
export interface Request {
  /** Its name in statistics. */
  readonly name: string
  readonly form: RequestForm
  /** How many values the database reads for it at once. */
  readonly values: number
  /** Whether it reads no values if the database supports `has()`. */
  readonly isOfKeys: boolean
  /** Executes it. The result, or what the promise resolves to, is sent to the client. */
  readonly run: (session: Session, parts: never, work: Work) => unknown
}

/** What a session needs from the server. */
export interface SessionHost {
  readonly served: ServedDatabase
  readonly reads: Reads
  readonly limits: Limits
  readonly methods: Readonly<Record<string, Method>>
  /** The methods for clients on this machine that belong to the server's user. */
  readonly localMethods: Readonly<Record<string, Method>>
  readonly calls: Calls
  /** The permissions of clients without their own. */
  readonly permissions: Permissions
  readonly feeds: Readonly<Record<string, ServedFeed>>
  readonly writes: WriteSource
  readonly isClosing: boolean
  readonly statistics: Statistics
  endSession(session: Session): void
}

/** The connection of a session to its client. */
export interface Channel {
  /** Whether the client is a program of the server's user on this machine. */
  readonly isLocal: boolean
  readonly unsentBytes: number
  /** Whether received data was not taken yet. */
  readonly hasUnread: boolean
  send(message: ServerMessage): void
  /** Sends a packed message. */
  sendPacked(frame: Uint8Array): void
  /** Called when the session may be able to take more requests. */
  proceed(): void
  /** Called when another connection has replaced this one. */
  destroy(): void
}

/** There is no room for what a request reads. */
class NoRoom extends Error {}

export class Session implements Waiter {
  readonly host: SessionHost
  readonly user: User | null
  readonly guard: Guard
  readonly limits: Limits
  /** The secret with which the client finds its session again. */
  readonly ticket = randomBytes(TICKET_BYTES)
  readonly cursors = new Map<number, ServerCursor>()
  readonly snapshots = new Map<number, AbstractSnapshot>()
  readonly subscriptions = new Map<number, Subscription>()
  /** Limits what the client may make the server hold. */
  readonly budget: Budget
  #channel: Channel | null = null
  #lastNumber = 0
  readonly #results: Results
  #running = 0
  readonly #rate: Rate
  /** Ends a period in which no request may begin. */
  #throttle: NodeJS.Timeout | undefined
  #idle: (() => void) | undefined
  #expiry: NodeJS.Timeout | undefined
  /** Reads whose results found no room. They count as running, and are repeated. */
  readonly #postponed: Work[] = []
  /** The size of the last result if it was large: the next ones may be as large, and should not be read in vain. */
  #answerBytes = 0
  /** Whether the first postponed read waits until other values were read. It is not retried after each answer. */
  #waitsToRead = false
  /** The postponed read that is being repeated. */
  #redone: Work | undefined
  /** When this session became exempt: it may proceed without room, for one request or one event. */
  #exemptSince: number | undefined
  /** Whether it has used that exemption. */
  #isExemptionUsed = false

  constructor(host: SessionHost, user: User | null, budget: Budget) {
    this.host = host
    this.budget = budget
    this.#results = new Results(budget)
    this.user = user
    this.limits = host.limits
    this.guard = new Guard(user?.permissions ?? host.permissions)
    this.#rate = new Rate(host.limits.requestsPerSecond)
  }

  /** The methods that the client may call, if it has the right. */
  get methods(): Readonly<Record<string, Method>> {
    return this.#channel?.isLocal === true ? this.host.localMethods : this.host.methods
  }

  /** Whether received data may be taken. If not, the connection is called once it should check again. */
  mayTake(): boolean {
    const { requestsAtOnce } = this.limits
    const isBusy =
      this.#running >= requestsAtOnce ||
      this.#running * this.#answerBytes >= this.#maxUnsentBytes ||
      this.#unsentBytes >= this.#maxUnsentBytes ||
      this.#postponed.length > 0 ||
      this.#throttle !== undefined
    return !isBusy && this.#mayWork(0)
  }

  /** Since when others have waited for this client to finish a message, if they do. */
  get delaysOthersSince(): number | undefined {
    return !this.#isExemptionUsed && this.budget.isDelayedBy(this) ? this.#exemptSince : undefined
  }

  get #unsentBytes(): number {
    return this.#channel?.unsentBytes ?? 0
  }

  get #maxUnsentBytes(): number {
    return Math.max(this.limits.unsentBytes, MAX_BUFFERED_BYTES)
  }

  /**
   * Whether there is room for this many bytes, or this session may proceed without it. If not, the session is called once it
   * should check again.
   */
  #mayWork(bytes: number): boolean {
    if (this.budget.hasRoom(bytes)) return true
    // Once its running requests are finished and sent, there is room, and the session is called.
    if (this.#isUnderWay || this.#isExemptionUsed || !this.budget.exempts(this)) return false
    this.#exemptSince ??= performance.now()
    return true
  }

  /** Whether requests are running, or more than a little is still unsent. */
  get #isUnderWay(): boolean {
    return this.#running > this.#postponed.length || this.#unsentBytes >= MAX_BUFFERED_BYTES
  }

  /** Ends the exemption, so that others can proceed, once the session has used it and sent the result. */
  #settle(): void {
    if (this.#exemptSince === undefined || this.#isUnderWay) return
    if (this.#isExemptionUsed || this.#channel?.hasUnread !== true) this.#endExemption()
  }

  #endExemption(): void {
    this.#exemptSince = undefined
    this.#isExemptionUsed = false
    this.budget.leave(this)
  }

  /** Called when there may be room. */
  look(): void {
    if (this.#channel === null) return
    this.#waitsToRead = false
    this.#redo()
    this.sendEvents()
    this.#channel?.proceed()
  }

  /** Called when all received data was taken. */
  emptied(): void {
    this.#settle()
  }

  /** Called when messages have left. */
  flushed(): void {
    this.#settle()
    this.look()
  }

  /** Switches to another connection. The client no longer uses the previous one. */
  attach(channel: Channel): void {
    clearTimeout(this.#expiry)
    const before = this.#channel
    this.#channel = channel
    before?.destroy()
  }

  /** Called when the connection is lost. Without another one, the session ends after a while. */
  detach(channel: Channel): void {
    if (this.#channel !== channel) return
    this.#channel = null
    // The client will send them again.
    for (const work of this.#postponed.splice(0)) this.#finished(work)
    this.#endExemption()
    this.host.reads.leave(this)
    this.#waitsToRead = false
    this.#expiry = setTimeout(() => this.host.endSession(this), timerMs(this.limits.sessionMs))
    this.#expiry.unref()
  }

  /**
   * Executes a request.
   *
   * @param bytes - How much memory the message takes.
   * @throws NET_PROTOCOL if the message is invalid.
   */
  take(message: Message, request: Request, bytes: number): void {
    const number = numberOf(message)
    const { isRepeatable } = request.form
    this.#count()
    if (number <= this.#lastNumber && !isRepeatable) {
      this.#repeat(number)
      return
    }
    this.#lastNumber = Math.max(this.#lastNumber, number)
    if (!isRepeatable) {
      if (this.#results.isFull) throw protocolError('Results are not acknowledged')
      this.#results.begin(number)
    }

    this.#running++
    this.budget.work(bytes)
    const work: Work = {
      request,
      kind: message[0],
      requestBytes: bytes,
      bytes,
      resultBytes: 0,
      isExempt: this.#useExemption(),
      values: 0,
      startedAt: this.host.statistics.now(),
      message
    }
    if (this.host.isClosing) this.#done(work, [Tell.failure, number, ...described(closing())])
    else if (this.#mayRead(work)) this.#run(work, number)
    else this.#postpone(work)
  }

  /** Whether a request may read its values now. If not, the session is called once it should try again. */
  #mayRead(work: Work): boolean {
    const { reads, served } = this.host
    const { values, isOfKeys } = work.request
    if (values === 0 || (isOfKeys && served.db.supports.has === true)) return true
    this.#waitsToRead = !reads.begin(this, values)
    if (this.#waitsToRead) return false
    work.values = values
    return true
  }

  #run(work: Work, number: number): void {
    const { request, message } = work
    let result: unknown
    try {
      result = request.run(this, readRequest(request.form, message) as never, work)
    } catch (error) {
      // Immediately, before the next request is taken.
      if (error instanceof NoRoom) this.#postpone(work)
      else Promise.resolve().then(() => this.#failed(work, number, error))
      return
    }

    if (result instanceof Promise) {
      result.then(
        (value) => this.#done(work, [Tell.result, number, value]),
        (error) => this.#failed(work, number, error)
      )
    } else this.#done(work, [Tell.result, number, result])
  }

  #failed(work: Work, number: number, error: unknown): void {
    if (error instanceof NoRoom) this.#postpone(work)
    else this.#done(work, [Tell.failure, number, ...described(error)])
  }

  /** Forgets results that the client has received: these, and all before `oldest`. */
  received(numbers: readonly number[], oldest: number): void {
    this.#results.received(numbers, oldest)
  }

  /** Forgets events that the client's consumer has taken. */
  credit(handle: number, event: number): void {
    this.subscriptions.get(handle)?.credit(event)
  }

  /** Resends events that may have been lost with the last connection. */
  resendEvents(): void {
    for (const subscription of this.subscriptions.values()) subscription.beginAgain()
    this.sendEvents()
  }

  /** Sends events of all subscriptions, interleaved, while there is room. */
  sendEvents(): void {
    for (let hasMore = true; hasMore; ) {
      hasMore = false
      for (const subscription of this.subscriptions.values()) {
        if (subscription.sendNext()) hasMore = true
      }
    }
  }

  /** Whether an event of this size may be packed: the connection holds little, and there is room. */
  hasRoom(bytes: number): boolean {
    if (this.#channel === null || this.#channel.unsentBytes >= MAX_BUFFERED_BYTES) return false
    if (!this.#mayWork(bytes)) return false
    this.#useExemption()
    return true
  }

  /** Sends a message that does not answer a request. */
  send(message: ServerMessage): void {
    this.#channel?.send(message)
  }

  /** Resolves once no request is running. */
  async idle(): Promise<void> {
    // A closing server finishes the requests it has taken, however slow the client is.
    this.#redo()
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
  }

  /** Releases everything. Requests that still run release what they hold when they finish. */
  async end(): Promise<void> {
    clearTimeout(this.#expiry)
    clearTimeout(this.#throttle)
    this.#channel = null
    for (const work of this.#postponed.splice(0)) this.#finished(work)
    this.#endExemption()
    this.host.reads.leave(this)
    this.#results.clear()
    for (const subscription of this.subscriptions.values()) subscription.close()
    this.subscriptions.clear()
    const cursors = [...this.cursors.values()]
    this.cursors.clear()
    await Promise.allSettled(cursors.map((cursor) => cursor.close()))
    const snapshots = [...this.snapshots.values()]
    this.budget.keep(-RESOURCE_BYTES * snapshots.length)
    this.snapshots.clear()
    await Promise.allSettled(snapshots.map((snapshot) => snapshot.close()))
  }

  #repeat(number: number): void {
    const result = this.#results.of(number)
    if (result !== undefined) this.#channel?.sendPacked(result)
  }

  /** Counts a request. If requests arrive too fast, the next one must wait. */
  #count(): void {
    const waitMs = this.#rate.take()
    if (waitMs === 0) return
    clearTimeout(this.#throttle)
    this.#throttle = setTimeout(() => {
      this.#throttle = undefined
      this.#channel?.proceed()
    }, Math.ceil(waitMs))
  }

  #done(work: Work, message: Answer): void {
    const { kind, startedAt } = work
    const { isRepeatable } = work.request.form
    const [answer, frame] = packed(message)
    if (work.values === 1) this.host.reads.saw(frame.length - (work.bytes - work.requestBytes))
    // Released before the check for room for the result, which was counted when it was read.
    this.#release(work)
    this.#answerBytes = frame.length > PART_BYTES ? frame.length : 0
    if (isRepeatable && !this.#hasRoomFor(work, frame.length)) {
      this.#postpone(work, frame.length)
      return
    }
    this.host.statistics.answered(kind, startedAt, answer[0] === Tell.failure)
    if (!isRepeatable) {
      const [told, number, result] = answer
      const isNothing = told === Tell.result && (result === undefined || result === null)
      this.#results.keep(number, isNothing ? undefined : frame)
    }
    this.#channel?.sendPacked(frame)
    this.#finished(work)
    this.#settle()
    this.#redo()
    this.#channel?.proceed()
  }

  /**
   * Counts bytes that were or will be read for a request.
   *
   * @throws If there is no room for them. The session repeats the request once there is.
   */
  hold(work: Work, bytes: number): void {
    if (work.values > 1) this.host.reads.saw(bytes / work.values)
    if (!this.#hasRoomFor(work, bytes)) {
      work.resultBytes = work.bytes - work.requestBytes + bytes
      throw new NoRoom()
    }
    work.bytes += bytes
    this.budget.work(bytes)
  }

  /** Whether a result may be held until it was sent. */
  #hasRoomFor({ isExempt }: Work, bytes: number): boolean {
    if (this.host.isClosing || isExempt) return true
    if (this.#channel === null) return false
    return (bytes <= PART_BYTES || this.#unsentBytes < this.#maxUnsentBytes) && this.budget.hasRoom(bytes)
  }

  /** Drops what was read for a request, keeping only the request, and repeats it once there is room. */
  #postpone(work: Work, resultBytes = work.resultBytes): void {
    if (this.#channel === null) {
      // The client will send it again.
      this.#finished(work)
      return
    }
    this.#release(work)
    this.budget.work(work.requestBytes)
    work.bytes = work.requestBytes
    work.resultBytes = resultBytes
    if (this.#redone === work) this.#redone = undefined
    this.#postponed.push(work)
    this.#redo()
  }

  /** Uses up the exemption, if there is one. Returns whether there was. */
  #useExemption(): boolean {
    if (this.#exemptSince === undefined || this.#isExemptionUsed) return false
    this.#isExemptionUsed = true
    return true
  }

  #release(work: Work): void {
    if (work.bytes > 0) this.budget.work(-work.bytes)
    if (work.values > 0) this.host.reads.end(work.values)
    work.bytes = 0
    work.values = 0
  }

  #finished(work: Work): void {
    this.#release(work)
    if (this.#redone === work) this.#redone = undefined
    this.#running--
    if (this.#running === 0) this.#idle?.()
  }

  /** Repeats postponed reads, one at a time, while there is room. */
  #redo(): void {
    const [work] = this.#postponed
    if (work === undefined) return
    if (!this.host.isClosing) {
      if (this.#waitsToRead || this.#redone !== undefined || this.#unsentBytes >= this.#maxUnsentBytes) return
      if (!this.#mayWork(work.resultBytes) || !this.#mayRead(work)) return
    }
    this.#postponed.shift()
    this.#redone = work
    work.isExempt = this.#useExemption()
    this.#run(work, numberOf(work.message))
  }
}

/** Packs an answer, or a failure instead: a method may return something that cannot be packed. */
function packed(message: Answer): [Answer, Uint8Array] {
  try {
    const [kind, number, result] = message
    const isValue = kind === Tell.result && (result === null || result instanceof Uint8Array)
    return [message, isValue ? packBytes([kind, number, result]) : packMessage(message)]
  } catch {
    const failure: Answer = [Tell.failure, message[1], 'NET_FAILED', 'The result cannot be sent']
    return [failure, packMessage(failure)]
  }
}

function closing(): Error {
  return netError('NET_CLOSING', 'The server is shutting down')
}
