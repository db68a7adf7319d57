/**
 * A session with a server, over one connection after the other. Requests are numbered, and are answered exactly once:
 *
 * ```text
 *   request ──▶ pending, by number ──▶ sent ──▶ answered: forgotten
 *                    ▲                  │
 *                    └── connection lost: all that are pending are sent again, in order, when there is another
 * ```
 *
 * The server keeps the session for a while after a connection is lost. It does not repeat what it has done already, but answers
 * again. If the session is gone, because the server was started anew or the connection was away for too long, nobody can tell
 * whether a write that had been sent was stored: it fails with NET_WRITE_UNKNOWN.
 */

import { type CodedError, codedError } from 'terrace-core'
import { errorFrom, netError, protocolError } from '../protocol/errors.js'
import { FrameReader, type Message, packFrame } from '../protocol/frame.js'
import { PROTOCOL_VERSION } from '../protocol/limits.js'
import { Ask, Both, PartReader, Tell } from '../protocol/messages.js'
import { Outbox } from '../protocol/outbox.js'
import { parseAddress } from '../transport/address.js'
import type { Transport } from '../transport/transport.js'
import { type ConnectOptions, connect } from './connect.js'

/** When a client gives up, and how often it tries. */
export interface LinkOptions extends ConnectOptions {
  /** Proves to the server who this is; or a function that returns that for each connection, such as a token that expires. */
  readonly token?: string | (() => string | Promise<string>)
  /**
   * How long to wait for a connection and the server's welcome, in ms.
   *
   * @defaultValue 10,000
   */
  readonly connectTimeoutMs?: number
  /**
   * How long calls wait for another connection after one was lost, in ms. Then they fail with NET_OFFLINE, as do later ones until
   * there is a connection.
   *
   * @defaultValue 30,000
   */
  readonly offlineTimeoutMs?: number
  /**
   * How long a server may be silent before it is asked for a sign of life, in ms. After the same time again the connection counts
   * as lost.
   *
   * @defaultValue 10,000
   */
  readonly keepAliveMs?: number
}

/** What to do if the server has forgotten the session. */
type Resend =
  /** It reads, or is idempotent: it is sent again. */
  | 'again'
  /** It may have been done: it fails with NET_WRITE_UNKNOWN if it was sent. */
  | 'never'
  /** It is about a cursor or snapshot of the session: it fails with NET_SESSION_LOST. */
  | 'with session'

interface Pending {
  /** The packed message: a copy of what belongs to the caller. */
  readonly frame: Uint8Array
  readonly resend: Resend
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  /** The session in which it was sent; 0 if it was not. */
  sentIn: number
}

/** Cursors, snapshots and subscriptions, which a new session must make again or give up. */
export interface Resource {
  /** The server has sent something for it. */
  event?(parts: PartReader): void
  /** The server has ended it. The parts say after which event, and why. */
  ended?(parts: PartReader): void
  /** The server has forgotten it with the session. Called before what is pending is sent again, or fails. */
  forgotten(): void
}

/** What the server has said about itself and about this client. */
export interface Welcome {
  /** The user's name, as the server's authentication gave it. */
  readonly user: string | null
  /** The server's own name and version. */
  readonly server: string
  /** The manifest of the served database. */
  readonly manifest: Record<string, unknown>
  /** The largest message that the server takes, in bytes. */
  readonly maxMessageBytes: number
}

const FIRST_PAUSE_MS = 20
const LAST_PAUSE_MS = 2000

/** The client tells the server which answers it has received each time it has received so many. */
const RECEIVED_EVERY = 256

/** Messages from the server are not limited: the client has asked for them. */
const MAX_MESSAGE_BYTES = 2 ** 31

export class Link {
  readonly #address: () => string | Promise<string>
  readonly #options: LinkOptions
  readonly #pending = new Map<number, Pending>()
  readonly #resources = new Map<number, Resource>()
  #nextNumber = 1
  #nextHandle = 1
  /** Requests that were answered, which the server may forget. Reads are not kept there. */
  #answered: number[] = []
  /** Counts the sessions that this link has had. */
  #session = 0
  /** By what the server knows the session. */
  #ticket: Uint8Array | null = null
  #connection: Connection | null = null
  #state: 'closed' | 'connecting' | 'online' | 'offline' = 'closed'
  #closing = new AbortController()
  #offlineTimer: ReturnType<typeof setTimeout> | undefined
  /** Why calls fail at once; undefined if they may wait. */
  #refusal: CodedError<string> | undefined
  welcome: Welcome | undefined
  /** Called when a connection was lost or made. */
  onState: ((isOnline: boolean, cause?: Error) => void) | undefined

  /** @param address - Finds out where the server listens; called for each connection. */
  constructor(address: () => string | Promise<string>, options: LinkOptions) {
    this.#address = address
    this.#options = options
  }

  /** Connects for the first time. Fails if the server cannot be reached or refuses. */
  async open(): Promise<void> {
    this.#closing = new AbortController()
    this.#refusal = undefined
    this.#state = 'connecting'
    try {
      await this.#connect()
    } catch (error) {
      this.#state = 'closed'
      throw error
    }
  }

  /** Ends the session once all pending requests are answered, or can no longer be. */
  async close(): Promise<void> {
    if (this.#state === 'online') await Promise.allSettled([...this.#pending.values()].map(settled))
    this.#state = 'closed'
    this.#closing.abort(netError('NET_CLOSING', 'The database was closed'))
    clearTimeout(this.#offlineTimer)
    this.#failAll(netError('NET_OFFLINE', 'The database was closed before the server was reached'))
    this.#resources.clear()
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

  /** Asks the server for something. The arguments belong to the caller again afterwards. */
  ask<T>(resend: Resend, kind: number, ...parts: unknown[]): Promise<T> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    const number = this.#nextNumber++
    return new Promise<T>((resolve, reject) => {
      const frame = this.#packed([kind, number, ...parts])
      const pending: Pending = { frame, resend, resolve, reject, sentIn: 0 }
      this.#pending.set(number, pending)
      if (this.#state === 'online') this.#send(pending)
    })
  }

  /** Tells the server something to which there is no answer. Lost if there is no connection. */
  tell(kind: number, ...parts: unknown[]): void {
    this.#connection?.outbox.sendFirst(packFrame([kind, ...parts]))
  }

  /** Notes a resource, and returns the number by which the server is to know it. */
  addResource(resource: Resource): number {
    const handle = this.#nextHandle++
    this.#resources.set(handle, resource)
    return handle
  }

  removeResource(handle: number): void {
    this.#resources.delete(handle)
  }

  #packed(message: Message): Uint8Array {
    const frame = packFrame(message)
    const { maxMessageBytes = Number.POSITIVE_INFINITY } = this.welcome ?? {}
    if (frame.length <= maxMessageBytes) return frame
    throw netError(
      'NET_LIMIT',
      `The server takes at most ${maxMessageBytes} bytes at once; this were ${frame.length}`
    )
  }

  #send(pending: Pending): void {
    pending.sentIn = this.#session
    this.#connection?.outbox.send(pending.frame)
  }

  #take(number: number): Pending | undefined {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    return pending
  }

  async #connect(): Promise<void> {
    const { connectTimeoutMs = 10_000, keepAliveMs = 10_000 } = this.#options
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(connectTimeoutMs)])
    let transport: Transport
    try {
      transport = await connect(parseAddress(await this.#address()), this.#options, signal)
    } catch (error) {
      throw this.#unreachable(error)
    }

    const connection = new Connection(transport, keepAliveMs)
    const token = await tokenOf(this.#options)
    signal.throwIfAborted()
    const welcome = await connection.greet(token, this.#ticket, signal).catch((error) => {
      throw signal.aborted ? this.#unreachable(signal.reason) : error
    })
    this.#welcomed(connection, welcome)
  }

  /** There is a connection: sends what is pending. */
  #welcomed(connection: Connection, parts: PartReader): void {
    const ticket = parts.bytes('session')
    const isResumed = parts.boolean('resumed')
    const welcome = parts.map('server') as unknown as Welcome
    this.welcome = welcome
    this.#ticket = ticket
    this.#connection = connection
    clearTimeout(this.#offlineTimer)
    this.#offlineTimer = undefined
    this.#refusal = undefined
    this.#state = 'online'
    connection.start({
      message: (message) => this.#receive(message),
      close: (cause) => this.#lost(connection, cause)
    })

    if (!isResumed) this.#beginSession()
    for (const pending of this.#pending.values()) this.#send(pending)
    this.onState?.(true)
  }

  /** The server knows nothing of this client. */
  #beginSession(): void {
    const before = this.#session++
    if (before === 0) return
    for (const resource of [...this.#resources.values()]) resource.forgotten()
    for (const [number, { resend, sentIn, reject }] of [...this.#pending]) {
      if (resend === 'again' || (resend === 'never' && sentIn === 0)) continue
      this.#pending.delete(number)
      reject(resend === 'never' ? writeUnknown() : sessionLost())
    }
  }

  #receive(message: Message): void {
    const [kind] = message
    if (kind === Tell.result || kind === Tell.failure) {
      const pending = this.#take(message[1] as number)
      // What was sent twice is answered twice.
      if (pending === undefined) return
      if (kind === Tell.result) pending.resolve(message[2] as never)
      else pending.reject(errorFrom(message[2], message[3]))
      if (pending.resend !== 'again') this.#received(message[1] as number)
      return
    }

    const parts = new PartReader(message)
    if (kind === Tell.event) this.#resources.get(parts.number('handle'))?.event?.(parts)
    else if (kind === Tell.ended) {
      const resource = this.#resources.get(parts.number('handle'))
      resource?.ended?.(parts)
    } else if (kind !== Tell.closing) throw protocolError('The server has sent a message of unknown kind')
  }

  /** Lets the server forget results. */
  #received(number: number): void {
    if (this.#answered.push(number) < RECEIVED_EVERY) return
    this.tell(Ask.received, this.#answered)
    this.#answered = []
  }

  #lost(connection: Connection, cause: Error | undefined): void {
    if (connection !== this.#connection) return
    this.#connection = null
    if (this.#state === 'closed') return
    this.#state = 'offline'
    const { offlineTimeoutMs = 30_000 } = this.#options
    this.#offlineTimer = setTimeout(() => this.#giveUp(cause), offlineTimeoutMs)
    this.onState?.(false, cause)
    this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    for (
      let pauseMs = FIRST_PAUSE_MS;
      this.#state === 'offline';
      pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)
    ) {
      try {
        return await this.#connect()
      } catch (error) {
        const { code } = error as CodedError<string>
        if (code === 'NET_UNAUTHENTICATED' || code === 'NET_PROTOCOL') this.#giveUp(error as Error)
      }
      // Clients that lost the same server do not all come back at once.
      await pause(pauseMs * (0.5 + Math.random()), this.#closing.signal)
    }
  }

  /** Calls no longer wait. The link goes on to look for a connection. */
  #giveUp(cause: Error | undefined): void {
    const reason = cause === undefined ? '' : `: ${cause.message}`
    this.#refusal = netError('NET_OFFLINE', `The server cannot be reached${reason}`, cause)
    this.#failAll(this.#refusal)
  }

  #failAll(error: CodedError<string>): void {
    for (const [number, { resend, sentIn, reject }] of [...this.#pending]) {
      this.#pending.delete(number)
      const isUnknown = resend === 'never' && sentIn > 0
      reject(
        isUnknown
          ? netError('NET_WRITE_UNKNOWN', `This write was sent, but not answered: ${error.message}`, error)
          : error
      )
    }
  }

  #unreachable(cause: unknown): CodedError<string> {
    const isTimeout = (cause as Error)?.name === 'TimeoutError'
    const reason = isTimeout ? 'it did not answer in time' : ((cause as Error)?.message ?? String(cause))
    return netError('NET_OFFLINE', `The server cannot be reached: ${reason}`, cause)
  }
}

/** One connection: greets, then hands messages on, and asks a silent server for a sign of life. */
class Connection {
  readonly outbox: Outbox
  readonly #transport: Transport
  readonly #keepAliveMs: number
  readonly #reader = new FrameReader(MAX_MESSAGE_BYTES)
  #isQuiet = false
  #timer: ReturnType<typeof setInterval> | undefined
  #cause: Error | undefined
  #isClosed = false
  /** What came right after the welcome. */
  readonly #early: Message[] = []
  #onMessage: (message: Message) => void = () => {}
  #onClose: (cause?: Error) => void = () => {}

  constructor(transport: Transport, keepAliveMs: number) {
    this.#transport = transport
    this.#keepAliveMs = keepAliveMs
    this.outbox = new Outbox(transport, 'in order')
    transport.attach({
      data: (bytes) => this.#receive(bytes),
      drain: this.outbox.flush,
      close: (cause) => this.#closed(cause)
    })
  }

  /** Says who this is. Resolves with the welcome. */
  greet(token: string | undefined, ticket: Uint8Array | null, signal: AbortSignal): Promise<PartReader> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#transport.destroy()
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#onClose = (cause) =>
        reject(netError('NET_OFFLINE', 'The server has closed the connection', cause))
      this.#onMessage = (message) => {
        signal.removeEventListener('abort', abort)
        if (message[0] === Tell.welcome) resolve(new PartReader(message))
        else {
          const isRefusal = message[0] === Tell.refused
          reject(isRefusal ? errorFrom(message[1], message[2]) : protocolError('The server does not welcome'))
          this.#transport.destroy()
        }
        this.#onMessage = (later) => this.#early.push(later)
      }
      this.outbox.send(packFrame([Ask.hello, PROTOCOL_VERSION, token ?? null, ticket]))
    })
  }

  start(handlers: { message: (message: Message) => void; close: (cause?: Error) => void }): void {
    this.#onMessage = handlers.message
    this.#onClose = handlers.close
    this.#guarded(() => this.#early.splice(0).forEach(handlers.message))
    if (this.#isClosed) {
      handlers.close(this.#cause)
      return
    }
    this.#timer = setInterval(() => this.#check(), this.#keepAliveMs)
    // A program ends when nothing else is left to do, as with a database in a directory.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  /** Ends the session and the connection. */
  bye(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onClose = () => resolve()
      this.outbox.sendFirst(packFrame([Ask.bye]))
      this.outbox.flush()
      this.#transport.end()
    })
  }

  #receive(bytes: Uint8Array): void {
    this.#isQuiet = false
    this.#guarded(() => {
      this.#reader.push(bytes)
      for (let message = this.#reader.next(); message !== undefined; message = this.#reader.next()) {
        if (message[0] === Both.ping) this.outbox.sendFirst(packFrame([Both.pong]))
        else if (message[0] !== Both.pong) this.#onMessage(message)
      }
    })
  }

  /** Ends the connection if the server breaks the rules of the protocol. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#cause = error as Error
      this.#transport.destroy()
    }
  }

  #check(): void {
    if (this.#isQuiet) {
      this.#cause = codedError<string>(
        'NET_OFFLINE',
        `The server has been silent for ${2 * this.#keepAliveMs} ms: it may be gone, or too busy to turn its event loop`
      )
      this.#transport.destroy()
    } else {
      this.#isQuiet = true
      this.outbox.sendFirst(packFrame([Both.ping]))
    }
  }

  #closed(cause: Error | undefined): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#cause ??= cause
    this.#onClose(this.#cause)
  }
}

function writeUnknown(): Error {
  return netError(
    'NET_WRITE_UNKNOWN',
    'The connection was lost after this write was sent, and the server no longer knows it: read to learn whether it is stored'
  )
}

/** What was read from is gone with the session. */
export function sessionLost(): Error {
  return netError('NET_SESSION_LOST', 'The server was started anew, or the connection was away for too long')
}

async function tokenOf({ token }: LinkOptions): Promise<string | undefined> {
  return typeof token === 'function' ? token() : token
}

/** Resolves once a request is answered, in whatever way. */
function settled(pending: Pending): Promise<void> {
  return new Promise((done) => {
    const { resolve, reject } = pending
    const also =
      <T>(settle: (value: T) => void) =>
      (value: T): void => {
        settle(value)
        done()
      }
    Object.assign(pending, { resolve: also(resolve), reject: also(reject) })
  })
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
