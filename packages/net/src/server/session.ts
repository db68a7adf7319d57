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
import { type Message, packFrame } from '../protocol/frame.js'
import { MAX_BUFFERED_BYTES, PART_BYTES } from '../protocol/limits.js'
import { PartReader, Tell } from '../protocol/messages.js'
import { packBytes } from '../protocol/pack-bytes.js'
import { timerMs } from '../protocol/timer.js'
import type { Budget } from './budget.js'
import type { Calls } from './calls.js'
import type { ServedFeed } from './feed-source.js'
import type { Limits, Method, User } from './options.js'
import { Guard, type Permissions } from './permissions.js'
import { Rate } from './rate.js'
import { Results } from './results.js'
import type { ServedDatabase } from './served-database.js'
import type { ServerCursor } from './server-cursor.js'
import type { Statistics } from './statistics.js'
import type { Subscription } from './subscription.js'
import type { WriteSource } from './watching.js'

const TICKET_BYTES = 16

/** A result or a failure. */
type Answer = readonly [kind: number, number: number, ...parts: unknown[]]

/** A request that is being worked on. */
interface Work {
  readonly request: Request
  readonly kind: number
  readonly bytes: number
  readonly startedAt: number
  readonly message: Message
}

/** Something that a client can ask for. */
export interface Request {
  /** Its name in statistics. */
  readonly name: string
  /** Whether it may be done twice, because it only reads. */
  readonly isRepeatable: boolean
  /** Does it. The result, or what the promise resolves to, is sent to the client. */
  readonly run: (session: Session, parts: PartReader) => unknown
}

/** What a session needs of the server. */
export interface SessionHost {
  readonly served: ServedDatabase
  readonly limits: Limits
  readonly methods: Readonly<Record<string, Method>>
  /** Those of clients on this machine that belong to the same user. */
  readonly localMethods: Readonly<Record<string, Method>>
  readonly calls: Calls
  /** Of clients without permissions of their own. */
  readonly permissions: Permissions
  readonly feeds: Readonly<Record<string, ServedFeed>>
  readonly writes: WriteSource
  readonly isClosing: boolean
  readonly statistics: Statistics
  endSession(session: Session): void
}

/** How a session reaches its client. */
export interface Channel {
  /** Whether the client is a program of this machine, and of the server's user. */
  readonly isLocal: boolean
  readonly unsentBytes: number
  send(message: Message): void
  /** Sends a message that is packed already. */
  sendPacked(frame: Uint8Array): void
  /** The session can take more requests again. */
  proceed(): void
  /** Another connection has taken its place. */
  destroy(): void
}

export class Session {
  readonly host: SessionHost
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
  readonly #results = new Results()
  #running = 0
  /** What the requests that are being worked on have in memory. */
  #runningBytes = 0
  readonly #rate: Rate
  /** Ends the time in which no request may begin. */
  #throttle: NodeJS.Timeout | undefined
  #idle: (() => void) | undefined
  #expiry: NodeJS.Timeout | undefined

  /** What its user may make the server hold. */
  readonly #budget: Budget
  /** How much of that this session holds, as far as was noted. */
  #heldBytes = 0
  /**
   * Reads whose large results had no room. They count as running, and are done again. The budget does not count them: it has to become
   * free without them.
   */
  readonly #postponed: Work[] = []
  /** The size of the last result if it was large: the next ones may be, and should not be read in vain. */
  #answerBytes = 0
  /** Whether one of them is being done again. */
  #isRedoing = false

  constructor(host: SessionHost, user: User | null, budget: Budget) {
    this.host = host
    this.#budget = budget
    this.user = user
    this.limits = host.limits
    this.guard = new Guard(user?.permissions ?? host.permissions)
    this.#rate = new Rate(host.limits.requestsPerSecond)
  }

  /** The methods that the client may call, if it has the right. */
  get methods(): Readonly<Record<string, Method>> {
    return this.#channel?.isLocal === true ? this.host.localMethods : this.host.methods
  }

  /** Whether further requests should wait. */
  get isBusy(): boolean {
    const { messageBytes, requestsAtOnce } = this.limits
    const isFull =
      this.#running >= requestsAtOnce ||
      this.#runningBytes >= messageBytes ||
      this.#running * this.#answerBytes >= this.#maxUnsentBytes
    return isFull || this.#lacksRoom || this.#postponed.length > 0 || this.#throttle !== undefined
  }

  /** Whether results should wait: those before have not left, here or in other connections. */
  get #lacksRoom(): boolean {
    return (this.#channel?.unsentBytes ?? 0) >= this.#maxUnsentBytes || this.#budget.isFull
  }

  get #maxUnsentBytes(): number {
    return Math.max(this.limits.unsentBytes, MAX_BUFFERED_BYTES)
  }

  /** Requests wait. If that is for other connections, these will not call {@link flushed}. */
  waitForRoom(): void {
    if (this.#budget.isFull) this.#budget.whenReleased(this.#look)
  }

  readonly #look = (): void => {
    if (this.#channel === null) return
    this.#redo()
    this.#proceed()
  }

  /** Messages have left. */
  flushed(): void {
    this.#note()
    this.sendEvents()
    this.#redo()
    this.#proceed()
  }

  /** Notes what is held now. */
  #note(): void {
    const bytes = this.#runningBytes + (this.#channel?.unsentBytes ?? 0)
    if (bytes === this.#heldBytes) return
    this.#budget.add(bytes - this.#heldBytes)
    this.#heldBytes = bytes
  }

  /** Uses another connection from now on. The client does not use the one before any more. */
  attach(channel: Channel): void {
    clearTimeout(this.#expiry)
    const before = this.#channel
    this.#channel = channel
    before?.destroy()
  }

  /** The connection is lost. Without another one, the session ends after a while. */
  detach(channel: Channel): void {
    if (this.#channel !== channel) return
    this.#channel = null
    // The client asks for them again.
    for (const _ of this.#postponed.splice(0)) this.#finished()
    this.#note()
    this.#expiry = setTimeout(() => this.host.endSession(this), timerMs(this.limits.sessionMs))
    this.#expiry.unref()
  }

  /**
   * Does what a client asks for.
   *
   * @param bytes - The size of the message.
   * @throws NET_PROTOCOL if that makes no sense.
   */
  take(message: Message, request: Request, bytes: number): void {
    const parts = new PartReader(message)
    const number = parts.number('number')
    this.#count()
    if (number <= this.#lastNumber && !request.isRepeatable) {
      this.#repeat(number)
      return
    }
    this.#lastNumber = Math.max(this.#lastNumber, number)
    if (!request.isRepeatable) {
      if (this.#results.isFull) throw protocolError('Results are not acknowledged')
      this.#results.begin(number)
    }

    this.#running++
    this.#hold(bytes)
    const work: Work = { request, kind: message[0], bytes, startedAt: this.host.statistics.now(), message }
    if (this.host.isClosing) this.#done(work, [Tell.failure, number, ...described(closing())])
    else this.#run(work, number, parts)
  }

  #run(work: Work, number: number, parts: PartReader): void {
    let result: unknown
    try {
      result = work.request.run(this, parts)
    } catch (error) {
      result = Promise.reject(error)
    }

    if (result instanceof Promise) {
      result.then(
        (value) => this.#done(work, [Tell.result, number, value]),
        (error) => this.#done(work, [Tell.failure, number, ...described(error)])
      )
    } else this.#done(work, [Tell.result, number, result])
  }

  /** Forgets results that the client has: these, and all before `oldest`. */
  received(numbers: readonly number[], oldest: number): void {
    this.#results.received(numbers, oldest)
  }

  /** Forgets events that the client's consumer has taken. */
  credit(parts: PartReader): void {
    this.subscriptions.get(parts.number('handle'))?.credit(parts.number('event'))
  }

  /** Sends the events again that may have been lost with the last connection. */
  resendEvents(): void {
    for (const subscription of this.subscriptions.values()) subscription.beginAgain()
    this.sendEvents()
  }

  /** Sends events of all subscriptions, interleaved, as long as there is room. */
  sendEvents(): void {
    for (let hasMore = true; hasMore && this.hasRoom; ) {
      hasMore = false
      for (const subscription of this.subscriptions.values()) {
        if (this.hasRoom && subscription.sendNext()) hasMore = true
      }
    }
  }

  /** Whether events may be packed: the connection holds little. */
  get hasRoom(): boolean {
    return this.#channel !== null && this.#channel.unsentBytes < MAX_BUFFERED_BYTES
  }

  /** Sends something that nobody has asked for with a number. */
  send(message: Message): void {
    this.#channel?.send(message)
  }

  /** Resolves once nothing is being worked on. */
  async idle(): Promise<void> {
    // The server closes: what it has taken it finishes, however slow the client is.
    this.#redo()
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
  }

  /** Releases everything. */
  async end(): Promise<void> {
    clearTimeout(this.#expiry)
    clearTimeout(this.#throttle)
    this.#channel = null
    this.#runningBytes = 0
    this.#note()
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
    const result = this.#results.of(number)
    if (result !== undefined) this.#channel?.send(result)
  }

  /** Counts a request. If they come too fast, the next one has to wait. */
  #count(): void {
    const waitMs = this.#rate.take()
    if (waitMs === 0) return
    clearTimeout(this.#throttle)
    this.#throttle = setTimeout(() => {
      this.#throttle = undefined
      this.#proceed()
    }, Math.ceil(waitMs))
  }

  #done(work: Work, message: Answer): void {
    const { request, kind, bytes, startedAt } = work
    // Released before the check for room for the result.
    this.#hold(-bytes)
    const [answer, frame] = packed(message)
    this.#answerBytes = frame.length > PART_BYTES ? frame.length : 0
    const isLarge = request.isRepeatable && this.#answerBytes > 0
    if (isLarge && this.#channel !== null && this.#lacksRoom && !this.host.isClosing) {
      this.#postponed.push(work)
      this.#isRedoing = false
      this.waitForRoom()
      return
    }
    this.#isRedoing = false
    this.host.statistics.answered(kind, startedAt, answer[0] === Tell.failure)
    if (!request.isRepeatable) this.#results.keep(answer[1], answer, frame.length)
    this.#channel?.sendPacked(frame)
    this.#finished()
    this.#note()
    this.#redo()
    this.#proceed()
  }

  #proceed(): void {
    if (this.isBusy) this.waitForRoom()
    else this.#channel?.proceed()
  }

  /** Notes that a request begins to be worked on, or ends. */
  #hold(bytes: number): void {
    this.#runningBytes = Math.max(0, this.#runningBytes + bytes)
    this.#note()
  }

  #finished(): void {
    this.#running--
    if (this.#running === 0) this.#idle?.()
  }

  /** Does postponed reads again, one at a time, as long as there is room. */
  #redo(): void {
    const mayRedo = this.host.isClosing || (!this.#lacksRoom && !this.#isRedoing)
    if (!mayRedo) return
    const work = this.#postponed.shift()
    if (work === undefined) return
    this.#isRedoing = true
    this.#hold(work.bytes)
    const parts = new PartReader(work.message)
    this.#run(work, parts.number('number'), parts)
  }
}

/** Packs an answer, or a failure in its place: a method may return what cannot be packed. */
function packed(message: Answer): [Answer, Uint8Array] {
  try {
    const [kind, number, result] = message
    const isValue = kind === Tell.result && (result === null || result instanceof Uint8Array)
    return [message, isValue ? packBytes([kind, number, result]) : packFrame(message)]
  } catch {
    const failure: Answer = [Tell.failure, message[1], 'NET_FAILED', 'The result cannot be sent']
    return [failure, packFrame(failure)]
  }
}

function closing(): Error {
  return netError('NET_CLOSING', 'The server is shutting down')
}
