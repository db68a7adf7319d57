/**
 * One connection of a client: authenticates it, then hands its requests to its session. It reads no more from a client than the
 * session can work on and the client itself reads.
 */

import type { CodedError } from 'terrace-core'
import { described, netError, protocolError } from '../protocol/errors.js'
import { FrameReader, type Message } from '../protocol/frame.js'
import { MAX_HELLO_BYTES, PROTOCOL_VERSION } from '../protocol/limits.js'
import {
  Ask,
  Both,
  notices,
  packMessage,
  readMessage,
  type ServerMessage,
  Tell
} from '../protocol/messages.js'
import { Outbox } from '../protocol/outbox.js'
import type { Transport } from '../transport/transport.js'
import type { Authenticate } from './authentication.js'
import type { Budget } from './budget.js'
import type { Peer, User } from './options.js'
import { handlers } from './requests.js'
import type { Channel, Session, SessionHost } from './session.js'

/** The most items of a message besides the operations of a batch. This also limits the arguments of methods. */
const MORE_ITEMS = 1000

const versionOnly = { parts: [notices.hello.parts[0]] } as const

/** What a connection needs from the server. */
export interface ConnectionHost extends SessionHost {
  /** Counts what connections hold before their clients are known. */
  readonly budget: Budget
  readonly authenticate: Authenticate
  beginSession(user: User | null): Session
  /** The earlier session of a client, if it still exists and belongs to the same user with the same rights. */
  sessionOf(ticket: Uint8Array | undefined, user: User | null): Session | undefined
  /** What the welcome tells a client about the server and itself. */
  welcome(session: Session): object
  warn(warning: Error, peer: Peer): void
  forget(connection: ServerConnection): void
}

export class ServerConnection implements Channel {
  readonly peer: Peer
  readonly isLocal: boolean
  readonly #host: ConnectionHost
  readonly #transport: Transport
  readonly #reader: FrameReader
  readonly #outbox: Outbox
  #session: Session | null = null
  /** The session's budget, once there is a session. */
  #budget: Budget
  /** How many bytes are counted in `#budget`. */
  #heldBytes = 0
  #isGone = false
  /** What the next message means. */
  #state: 'greeting' | 'authenticating' | 'serving' | 'closed' = 'greeting'
  /** Whether messages are not taken, and whether the transport was stopped because of that. */
  #isPaused = false
  #isStopped = false
  /** When the connection began or, in the state `closed`, when it began to end. */
  #since = performance.now()
  #heardAt = this.#since
  /** Since when the client has read none of what it was sent. */
  #stalledAt: number | undefined
  #lastTakenBytes = 0
  receivedBytes = 0

  constructor(host: ConnectionHost, transport: Transport, listener: string) {
    this.#host = host
    this.#budget = host.budget
    this.#transport = transport
    this.peer = { address: transport.peer, listener }
    this.isLocal = listener.startsWith('unix:')
    this.#reader = new FrameReader(MAX_HELLO_BYTES, 2 * host.limits.batchOperations + MORE_ITEMS)
    this.#outbox = new Outbox(transport, 'overtaking', () => this.#flushed())
    transport.attach({
      data: (bytes) => this.#receive(bytes),
      receiving: () => this.#receiving(),
      drain: this.#outbox.flush,
      close: (cause) => this.#closed(cause)
    })
  }

  get unsentBytes(): number {
    return this.#outbox.unsentBytes
  }

  get hasUnread(): boolean {
    return this.#unreadBytes > 0
  }

  get sentBytes(): number {
    return this.#outbox.sentBytes
  }

  send(message: ServerMessage): void {
    this.sendPacked(packMessage(message))
  }

  sendPacked(frame: Uint8Array): void {
    if (this.#state === 'closed') return
    this.#outbox.send(frame)
    this.#note()
  }

  /** Called when the session may have room for requests again. */
  proceed(): void {
    if (!this.#isPaused || this.#state !== 'serving' || this.#session?.mayTake() === false) return
    this.#isPaused = false
    this.#heardAt = performance.now()
    this.#resume()
    this.#pump()
  }

  /** Breaks off the connection if the client has been silent, or has not read, for too long. */
  check(now: number): void {
    const { helloMs, silenceMs, stallMs } = this.#host.limits
    // A transport does not report when its last few bytes have left.
    this.#note()
    const takenBytes = this.#outbox.sentBytes - this.#transport.bufferedBytes
    if (this.unsentBytes === 0 || takenBytes > this.#lastTakenBytes) this.#stalledAt = undefined
    else this.#stalledAt ??= now
    this.#lastTakenBytes = takenBytes

    const isServing = this.#state === 'serving'
    if (this.#state === 'closed') {
      if (now - this.#since > helloMs) this.#transport.destroy()
    } else if (!isServing && now - this.#since > helloMs) this.#fail('The client does not say who it is')
    else if (this.#stalledAt !== undefined && now - this.#stalledAt > stallMs)
      this.#fail('The client reads nothing')
    else if (!this.#isPaused && now - this.#heardAt > silenceMs) this.#fail('The client is silent')
    else if (now - (this.#session?.delaysOthersSince ?? now) > stallMs)
      this.#fail('The client does not finish a message, and others wait for the room that it takes')
    else if (this.#isPaused && isServing) this.#reassure()
    // A browser runs the timers of a hidden page once a minute, but the page still answers.
    else if (isServing && now - this.#heardAt > silenceMs / 4)
      this.#outbox.sendFirst(packMessage([Both.ping]))
  }

  /** Announces that the server is closing. The client ends the connection once everything it sent is answered. */
  announceEnd(): void {
    if (this.#state === 'serving') this.send([Tell.closing])
    else this.end()
  }

  /** Reads nothing more, and ends the connection once everything was sent. */
  end(): void {
    if (this.#state !== 'closed') this.#end()
  }

  destroy(): void {
    this.#state = 'closed'
    this.#transport.destroy()
  }

  #receive(bytes: Uint8Array): void {
    // A client that is being disconnected may keep sending.
    if (this.#state === 'closed') return
    this.#heardAt = performance.now()
    this.receivedBytes += bytes.length
    this.#reader.push(bytes)
    this.#note()
    if (this.#isPaused) this.#stop()
    this.#pump()
  }

  /** The transport below holds part of an incoming message. */
  #receiving(): void {
    this.#note()
    if (!this.#isPaused && this.#session?.mayTake() === false) this.#pause()
  }

  /** Takes messages as long as there is room for them. */
  #pump(): void {
    try {
      while (!this.#isPaused && this.#state !== 'authenticating' && this.#state !== 'closed') {
        if (this.#reader.heldBytes === 0) {
          this.#session?.emptied()
          return
        }
        if (this.#session?.mayTake() === false) {
          this.#pause()
          return
        }
        const message = this.#reader.next()
        if (message === undefined) return
        this.#note()
        this.#take(message)
      }
    } catch (error) {
      this.#refuse(error as Error)
    }
  }

  get #unreadBytes(): number {
    return this.#reader.heldBytes + (this.#transport.receivingBytes ?? 0)
  }

  /** Updates the budget to what is held now. */
  #note(): void {
    if (this.#isGone) return
    const bytes = this.#unreadBytes + this.#outbox.heldBytes
    if (bytes !== this.#heldBytes) this.#budget.work(bytes - this.#heldBytes)
    this.#heldBytes = bytes
  }

  /** Removes everything held from the current budget. */
  #unnote(): void {
    this.#budget.work(-this.#heldBytes)
    this.#heldBytes = 0
  }

  #take(message: Message): void {
    const [kind] = message
    const session = this.#session
    if (session === null) {
      if (kind !== Ask.hello) throw protocolError('A client must say hello first')
      this.#state = 'authenticating'
      this.#isPaused = true
      this.#stop()
      this.#greet(message).catch((error) => this.#refuse(error))
      return
    }

    const request = handlers.get(kind)
    if (request !== undefined) session.take(message, request, this.#reader.messageBytes)
    else if (kind === Ask.received) session.received(...readMessage(notices.received, message))
    else if (kind === Ask.credit) session.credit(...readMessage(notices.credit, message))
    else if (kind === Both.ping) this.#outbox.sendFirst(packMessage([Both.pong]))
    else if (kind === Ask.bye) this.#bye(session)
    else if (kind !== Both.pong) throw protocolError('A message of unknown kind came')
  }

  async #greet(message: Message): Promise<void> {
    // Another version may have different parts.
    const [version] = readMessage(versionOnly, message)
    if (version !== PROTOCOL_VERSION) {
      throw protocolError(
        `The server speaks version ${PROTOCOL_VERSION} of the protocol, the client ${version}`
      )
    }

    const [, token, ticket] = readMessage(notices.hello, message)
    const user = await this.#host.authenticate(token, this.peer)
    // The client may have left or been refused meanwhile.
    if (this.#state !== 'authenticating') return

    const known = this.#host.sessionOf(ticket, user)
    const session = known ?? this.#host.beginSession(user)
    session.attach(this)
    this.#session = session
    this.#unnote()
    this.#budget = session.budget
    this.#note()
    this.#state = 'serving'
    this.#transport.welcomed?.()
    this.#reader.maxMessageBytes = this.#host.limits.messageBytes
    this.send([Tell.welcome, session.ticket, known !== undefined, this.#host.welcome(session)])
    session.resendEvents()
    this.proceed()
  }

  #bye(session: Session): void {
    this.#session = null
    this.#host.endSession(session)
    this.#end()
  }

  #end(): void {
    this.#state = 'closed'
    this.#since = performance.now()
    // Keep reading: if the client sends more, its end would otherwise go unnoticed.
    this.#resume()
    this.#outbox.end()
  }

  /** A client whose requests wait here must not take the server for dead: it would reconnect and send all of them again. */
  #reassure(): void {
    if (this.unsentBytes === 0) this.#outbox.sendFirst(packMessage([Both.pong]))
  }

  /** Takes no more messages. The transport is not stopped at once: often, there is room again by the end of this turn. */
  #pause(): void {
    this.#isPaused = true
    setImmediate(() => {
      if (this.#isPaused && this.#state === 'serving') this.#stop()
    })
  }

  #stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#transport.pause()
  }

  #resume(): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#transport.resume()
  }

  #flushed(): void {
    this.#note()
    if (this.#state === 'serving') this.#session?.flushed()
  }

  /** Sends the client the reason, and ends the connection. */
  #refuse(error: Error): void {
    if (this.#state === 'closed') return
    this.#outbox.sendFirst(packMessage([Tell.refused, ...described(error)]))
    this.#end()
    this.#host.warn(error, this.peer)
  }

  #fail(reason: string): void {
    this.#host.warn(netError('NET_LIMIT', reason), this.peer)
    this.destroy()
  }

  #closed(cause: Error | undefined): void {
    if (this.#state !== 'closed' && isLimit(cause)) this.#host.warn(cause, this.peer)
    this.#state = 'closed'
    this.#unnote()
    this.#isGone = true
    this.#session?.detach(this)
    this.#host.forget(this)
  }
}

/** Whether the transport ended the connection because the client sent too much. */
function isLimit(cause: Error | undefined): cause is Error {
  return (cause as Partial<CodedError<string>> | undefined)?.code === 'NET_LIMIT'
}
