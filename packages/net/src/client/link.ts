/**
 * A session with a server, over successive connections. Requests are numbered, and each is answered exactly once:
 *
 * ```text
 *   request ──▶ pending, by number ──▶ sent ──▶ answered: forgotten
 *                    ▲                  │
 *                    └── connection lost: all pending requests are sent again, in order, once there is another
 * ```
 *
 * The server keeps the session for a while after a connection is lost. It does not repeat what it has already done, but sends the
 * answer again. If the session is gone, because the server restarted or the connection was lost for too long, there is no way to
 * tell whether a write that had been sent was stored: it fails with NET_WRITE_UNKNOWN.
 */

import {
  type CodedError,
  type Fate,
  Handles,
  type PendingCall,
  PendingCalls,
  type RemoteConnection,
  type RemoteState
} from 'terrace-core'
import { copyOf } from '../protocol/bytes.js'
import { errorFrom, netError, protocolError } from '../protocol/errors.js'
import type { Message } from '../protocol/frame.js'
import { Ask, type NoticeMessage, packMessage, readMessage, Tell, told } from '../protocol/messages.js'
import { timerMs } from '../protocol/timer.js'
import type { Transport } from '../transport/transport.js'
import { type ConnectOptions, connect, parseAddress } from './connect.js'
import { Connection } from './connection.js'
import { deadline } from './deadline.js'
import type { NetCall } from './net-call.js'
import { objectionTo, type Welcome } from './welcome.js'

/** Options of the client: its token, and how long it waits for a server. */
export interface LinkOptions extends ConnectOptions {
  /** A token that authenticates this client, or a function that returns one for each connection, for tokens that expire. */
  readonly token?: string | (() => string | Promise<string>)
  /**
   * How long to wait for a connection and the server's welcome, in ms. During this time, the client retries a server that is not
   * running yet.
   *
   * @defaultValue 10,000
   */
  readonly connectTimeoutMs?: number
  /**
   * How long calls wait for a new connection after one was lost, in ms. After that, they fail with NET_OFFLINE, as do later calls
   * until the client is connected again. `close()` waits no longer than this for answers.
   *
   * @defaultValue 30,000
   */
  readonly offlineTimeoutMs?: number
  /**
   * How long the server may be silent before the client pings it, in ms. After the same time again, the connection is considered
   * lost.
   *
   * @defaultValue 10,000
   */
  readonly keepAliveMs?: number
}

/** Options for use within this package. */
export interface LinkBehaviour {
  /** Whether opening fails at once if no server is listening. */
  readonly isImpatient?: boolean
  /** Whether `offlineTimeoutMs` includes the time for which the server was silent before the connection counted as lost. */
  readonly countsSilence?: boolean
}

/** Cursors, snapshots and subscriptions: in a new session, they must be created again or given up. */
export interface Resource extends RemoteState {
  /** Called for each event that the server sends for it. */
  event?(event: Message): void
  /** Called when the server has ended it. The message has the number of the last event and the reason. */
  ended?(message: Message): void
}

/** An unanswered request. */
interface Request extends PendingCall {
  /** The packed message, with a copy of the caller's data. */
  readonly frame: Uint8Array
  readonly kind: number
  readonly number: number
}

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000
const DEFAULT_OFFLINE_TIMEOUT_MS = 30_000
const FIRST_PAUSE_MS = 20
const LAST_PAUSE_MS = 2000

/** How many answers the client receives before it acknowledges them to the server. */
const RECEIVED_EVERY = 256

export class Link implements RemoteConnection {
  readonly #address: () => string | Promise<string>
  readonly #options: LinkOptions & LinkBehaviour
  /** What the server holds for this client in the session. */
  readonly handles = new Handles<Resource>()
  readonly #pending = new PendingCalls<Request>(this.handles, { writeUnknown, stateLost: sessionLost })
  /** The numbers of answered requests whose results the server may forget. It keeps no results of reads. */
  #answered: number[] = []
  /** Whether this link has had a session. */
  #hadSession = false
  /** Identifies the session to the server. */
  #ticket: Uint8Array | null = null
  #connection: Connection | null = null
  #state: 'closed' | 'connecting' | 'online' | 'offline' = 'closed'
  /** Whether the server accepts no more requests on this connection. New ones wait for the next connection. */
  #isServerClosing = false
  /** How many requests were sent on this connection and are unanswered. */
  #unanswered = 0
  #closing = new AbortController()
  /** Ends the attempts to reach a server for the first time. */
  #patience = new AbortController()
  /** How long to wait before connecting again, in ms. Only a message after the welcome resets it. */
  #pauseMs = 0
  /** Since when pending calls have waited without any sign of the server. */
  #waitingSince = 0
  #offlineTimer: ReturnType<typeof setTimeout> | undefined
  #endTimer: ReturnType<typeof setInterval> | undefined
  /** The error with which new calls fail at once; undefined if they may wait. */
  #refusal: CodedError<string> | undefined
  welcome: Welcome | undefined
  /** Checks each welcome, and throws if it is not from the server that this client wants. */
  checkWelcome: ((welcome: Welcome) => void) | undefined
  /** Called when a connection is made or lost. */
  onState: ((isOnline: boolean, cause?: Error) => void) | undefined

  /** @param address - Returns the server's address; called for each connection. */
  constructor(address: () => string | Promise<string>, options: LinkOptions & LinkBehaviour) {
    this.#address = address
    this.#options = options
  }

  /** Connects for the first time. Fails if the server cannot be reached or refuses. */
  async open(): Promise<void> {
    this.#closing = new AbortController()
    this.#patience = new AbortController()
    this.#refusal = undefined
    this.#state = 'connecting'
    try {
      await this.#connectFirst(this.#closing.signal)
    } catch (error) {
      this.#state = 'closed'
      this.#fail(error as CodedError<string>)
      throw error
    }
  }

  /** Called when the database begins to close. Limits how long pending calls are waited for. */
  endSoon(): void {
    this.#patience.abort()
    const { offlineTimeoutMs = DEFAULT_OFFLINE_TIMEOUT_MS } = this.#options
    const end = (): void => this.giveUp(new Error('the database was closed before the server answered'))
    // Repeated: if the connection recovers meanwhile, calls may be added. If the database is not open, none are pending.
    this.#endTimer ??= setInterval(end, timerMs(offlineTimeoutMs))
    ;(this.#endTimer as { unref?: () => void }).unref?.()
  }

  /** The database is closed. */
  ended(): void {
    clearInterval(this.#endTimer)
    this.#endTimer = undefined
  }

  /**
   * Ends the session once all pending reads and writes are answered or have failed, at the latest when {@link endSoon} gives them
   * up.
   */
  async close(): Promise<void> {
    this.endSoon()
    // Requests that release resources need no wait: the session's end releases them, too.
    if (this.#state === 'online') await this.#pending.answered()
    this.ended()
    this.#state = 'closed'
    this.#closing.abort(netError('NET_CLOSING', 'The database was closed'))
    clearTimeout(this.#offlineTimer)
    this.#fail(netError('NET_OFFLINE', 'The database was closed before the server was reached'))
    this.handles.clear()
    this.#ticket = null
    const connection = this.#connection
    this.#connection = null
    await connection?.bye()
  }

  get isOnline(): boolean {
    return this.#state === 'online'
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Whether every request was answered. */
  get isIdle(): boolean {
    return this.#pending.size === 0
  }

  /** Whether a write is unanswered. */
  get hasWrites(): boolean {
    return this.#pending.hasWrites
  }

  ask<T>(fate: Fate, { message, pack, read }: NetCall<T>): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    if (this.#state === 'closed') return Promise.reject(netError('NET_OFFLINE', 'The database is not open'))
    const objection = objectionTo(message[0], this.welcome)
    if (objection !== undefined) return Promise.reject(objection)
    const number = this.#pending.nextNumber()
    message[1] = number
    if (this.#pending.size === 0 && this.#options.countsSilence === true)
      this.#waitingSince = performance.now()
    return new Promise<T>((resolve, reject) => {
      const frame = this.#checked(pack(message as never))
      const [kind] = message
      const request: Request = { kind, number, frame, fate, read, resolve, reject, mayHaveBegun: false }
      this.#pending.add(number, request)
      if (this.#state === 'online' && !this.#isServerClosing) this.#send(request)
    })
  }

  tell(call: NetCall, failed?: (error: unknown) => void): void {
    this.ask('with state', call).catch((error) => {
      if (!this.isStateLost(error)) failed?.(error)
    })
  }

  stateLost(): Error {
    return sessionLost()
  }

  isStateLost(error: unknown): boolean {
    return (error as CodedError<string>).code === 'NET_SESSION_LOST'
  }

  /**
   * Checks that a request does not have too many operations or keys for the server.
   *
   * @throws NET_LIMIT
   */
  checkCount(count: number): void {
    const { maxBatchOperations = Number.POSITIVE_INFINITY } = this.welcome ?? {}
    if (count > maxBatchOperations) {
      throw netError('NET_LIMIT', `The server takes at most ${maxBatchOperations} operations or keys at once`)
    }
  }

  /** Sends the server a message that has no answer. Without a connection, the message is lost. */
  notify(message: NoticeMessage): void {
    this.#connection?.outbox.sendFirst(packMessage(message))
  }

  #checked(frame: Uint8Array): Uint8Array {
    const { maxMessageBytes = Number.POSITIVE_INFINITY } = this.welcome ?? {}
    if (frame.length <= maxMessageBytes) return frame
    throw netError(
      'NET_LIMIT',
      `The server takes at most ${maxMessageBytes} bytes at once; this has ${frame.length}`
    )
  }

  #send(request: Request): void {
    request.mayHaveBegun = true
    this.#unanswered++
    this.#connection?.outbox.send(request.frame)
  }

  /** Connects, and retries if the server is not running yet: programs may start in any order. */
  async #connectFirst(closing: AbortSignal): Promise<void> {
    const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, isImpatient = false } = this.#options
    const end = performance.now() + connectTimeoutMs
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
      try {
        return await this.#connect(closing, Math.max(end - performance.now(), 1))
      } catch (error) {
        const leftMs = end - performance.now()
        const { signal } = this.#patience
        if (isImpatient || !mayCome(error) || closing.aborted || signal.aborted || leftMs <= 0) throw error
        await pause(Math.min(pauseMs, leftMs), signal)
        if (signal.aborted || performance.now() >= end) throw error
      }
    }
  }

  async #connect(
    closing: AbortSignal,
    timeoutMs = this.#options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS
  ): Promise<void> {
    const { signal, clear } = deadline(timeoutMs, closing)
    try {
      await this.#connectUntil(signal, closing)
    } finally {
      clear()
    }
  }

  async #connectUntil(signal: AbortSignal, closing: AbortSignal): Promise<void> {
    const token = await tokenOf(this.#options)
    let transport: Transport
    try {
      transport = await connect(parseAddress(await this.#address()), this.#options, signal)
    } catch (error) {
      throw this.#unreachable(error)
    }

    const connection = new Connection(transport, this.#options.keepAliveMs ?? 10_000)
    const welcome = await connection.greet(token, this.#ticket, signal).catch((error) => {
      throw signal.aborted ? this.#unreachable(signal.reason) : error
    })
    // The database may have been closed since the server answered.
    if (closing.aborted) {
      transport.destroy()
      throw this.#unreachable(closing.reason)
    }
    try {
      this.#welcomed(connection, welcome)
    } catch (error) {
      // The welcome is invalid, or this client wants another server.
      transport.destroy()
      throw error
    }
  }

  /** Uses a new connection: sends all pending requests. */
  #welcomed(connection: Connection, message: Message): void {
    const [session, isResumed, server] = readMessage(told.welcome, message)
    const ticket = copyOf(session)
    const welcome = server as unknown as Welcome
    this.checkWelcome?.(welcome)
    this.welcome = welcome
    this.#ticket = ticket
    this.#connection = connection
    clearTimeout(this.#offlineTimer)
    this.#offlineTimer = undefined
    this.#refusal = undefined
    this.#state = 'online'
    this.#isServerClosing = false
    this.#unanswered = 0
    connection.start({
      message: (message) => this.#receive(message),
      close: (cause) => this.#lost(connection, cause)
    })

    if (isResumed) this.#tellReceived()
    else this.#beginSession()
    for (const request of this.#pending.all()) this.#send(request)
    this.onState?.(true)
  }

  /** Starts a session with a server that does not know this client. */
  #beginSession(): void {
    const isFirst = !this.#hadSession
    this.#hadSession = true
    this.#answered = []
    if (isFirst) return
    this.#pending.lose()
    this.#rejectUnsupported()
  }

  /** Requests that wait were meant for a server that is gone. This one may not know all of them. */
  #rejectUnsupported(): void {
    for (const { kind, number } of [...this.#pending.all()]) {
      const objection = objectionTo(kind, this.welcome)
      if (objection !== undefined) this.#pending.reject(number, objection)
    }
  }

  #receive(message: Message): void {
    this.#pauseMs = 0
    if (this.#options.countsSilence === true) this.#waitingSince = performance.now()
    const [kind] = message
    if (kind === Tell.failure && message[2] === 'NET_CLOSING') {
      this.#postpone(message[1] as number)
      return
    }
    if (kind === Tell.result || kind === Tell.failure) {
      const number = message[1] as number
      const request =
        kind === Tell.result
          ? this.#pending.answer(number, message[2])
          : this.#pending.reject(number, errorFrom(message[2], message[3]))
      // A request that was sent twice is answered twice.
      if (request === undefined) return
      if (request.fate !== 'repeat') this.#received(number)
      this.#countAnswer()
      return
    }

    if (kind === Tell.event) this.handles.get(readMessage(told.event, message)[0])?.event?.(message)
    else if (kind === Tell.ended) this.handles.get(readMessage(told.ended, message)[0])?.ended?.(message)
    else if (kind === Tell.refused) this.#refused(errorFrom(message[1], message[2]))
    else if (kind === Tell.closing) this.#serverCloses()
    else throw protocolError('The server has sent a message of unknown kind')
  }

  /** The server is shutting down and has not executed this request: it waits for the next connection. */
  #postpone(number: number): void {
    const request = this.#pending.get(number)
    if (request === undefined) return
    request.mayHaveBegun = false
    this.#isServerClosing = true
    this.#countAnswer()
  }

  /** The server accepts no more requests. It answers those it has received, then waits for the client to end the connection. */
  #serverCloses(): void {
    this.#isServerClosing = true
    if (this.#unanswered === 0) this.#connection?.end()
  }

  #countAnswer(): void {
    this.#unanswered--
    if (this.#unanswered === 0 && this.#isServerClosing) this.#connection?.end()
  }

  /** Lets the server forget a result. */
  #received(number: number): void {
    if (this.#answered.push(number) >= RECEIVED_EVERY) this.#tellReceived()
  }

  /** Also names the oldest pending request: earlier acknowledgements may have been lost with a connection. */
  #tellReceived(): void {
    this.notify([Ask.received, this.#answered, this.#pending.oldest])
    this.#answered = []
  }

  /**
   * The server breaks off the connection because of something it received. Sending it all again would have the same outcome, so
   * all requests fail.
   */
  #refused(error: CodedError<string>): void {
    const connection = this.#connection
    this.#ticket = null
    this.#fail(error)
    connection?.destroy()
    if (connection !== null) this.#lost(connection, error)
  }

  #lost(connection: Connection, cause: Error | undefined): void {
    if (connection !== this.#connection) return
    this.#connection = null
    if (this.#state === 'closed') return
    this.#state = 'offline'
    const { offlineTimeoutMs = DEFAULT_OFFLINE_TIMEOUT_MS } = this.#options
    const isCounted = this.#options.countsSilence === true && !this.isIdle
    const silentMs = isCounted ? performance.now() - this.#waitingSince : 0
    const leftMs = Math.max(offlineTimeoutMs - silentMs, 0)
    this.#offlineTimer = setTimeout(() => this.giveUp(cause), timerMs(leftMs))
    this.onState?.(false, cause)
    this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing
    while (this.#state === 'offline' && !signal.aborted) {
      // Jitter keeps clients that lost the same server from reconnecting all at once.
      if (this.#pauseMs > 0) await pause(this.#pauseMs * (0.5 + Math.random()), signal)
      this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, FIRST_PAUSE_MS), LAST_PAUSE_MS)
      try {
        return await this.#connect(signal)
      } catch (error) {
        const { code } = error as CodedError<string>
        if (signal.aborted) return
        const isRefused = code === 'NET_UNAUTHENTICATED' || code === 'NET_PROTOCOL' || code === 'NET_MISMATCH'
        if (isRefused) this.giveUp(error as Error)
      }
    }
  }

  /** Fails all requests. */
  #fail(error: CodedError<string>): void {
    const ofSent = netError(
      'NET_WRITE_UNKNOWN',
      `This write was sent, but not answered: ${error.message}`,
      error
    )
    this.#pending.fail(error, ofSent)
  }

  /** Makes calls fail instead of waiting. The link keeps trying to connect. */
  giveUp(cause: Error | undefined): void {
    const reason = cause === undefined ? '' : `: ${cause.message}`
    const isMismatch = (cause as CodedError<string> | undefined)?.code === 'NET_MISMATCH'
    this.#refusal = isMismatch
      ? (cause as CodedError<string>)
      : netError('NET_OFFLINE', `The server cannot be reached${reason}`, cause)
    this.#fail(this.#refusal)
    if (isMismatch) {
      // A server that answers later does not have what the server held for this session.
      this.#ticket = null
      this.handles.forgetAll()
    }
  }

  #unreachable(cause: unknown): CodedError<string> {
    const isTimeout = (cause as Error)?.name === 'TimeoutError'
    const reason = isTimeout ? 'it did not answer in time' : ((cause as Error)?.message ?? String(cause))
    return netError('NET_OFFLINE', `The server cannot be reached: ${reason}`, cause)
  }
}

function writeUnknown(): Error {
  return netError(
    'NET_WRITE_UNKNOWN',
    'The connection was lost after this write was sent, and the server no longer knows it: read to learn whether it is stored'
  )
}

/** The state that was read from is gone with the session. */
function sessionLost(): Error {
  return netError(
    'NET_SESSION_LOST',
    'The session is lost: the server restarted, or the connection was lost for too long. Make a new snapshot'
  )
}

/** Error codes of the system for a server that is not running, or not ready. */
const NOT_THERE = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN'
])

/**
 * Whether the server may become reachable soon. A wrong certificate or token stays wrong, and a browser does not tell a page what
 * failed.
 */
function mayCome(error: unknown): boolean {
  const { code, cause } = error as CodedError<string>
  if (code === 'NET_CLOSING') return true
  return (
    code === 'NET_OFFLINE' && NOT_THERE.has(String((cause as Partial<CodedError<string>> | undefined)?.code))
  )
}

async function tokenOf({ token }: LinkOptions): Promise<string | undefined> {
  return typeof token === 'function' ? token() : token
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, durationMs)
    signal.addEventListener('abort', end)
  })
}
