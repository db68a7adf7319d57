/**
 * One connection of a client: learns who it is, then hands its requests to its session. It takes no more from a client than the
 * session can work on and the client itself reads.
 */

import { described, netError, protocolError } from '../protocol/errors.js'
import { FrameReader, type Message, packFrame } from '../protocol/frame.js'
import { MAX_HELLO_BYTES, PROTOCOL_VERSION } from '../protocol/limits.js'
import { Ask, Both, PartReader, Tell } from '../protocol/messages.js'
import { Outbox } from '../protocol/outbox.js'
import type { Transport } from '../transport/transport.js'
import type { Peer } from './options.js'
import { requests } from './requests.js'
import type { Host } from './server.js'
import type { Channel, Session } from './session.js'

export class ServerConnection implements Channel {
  readonly peer: Peer
  readonly #host: Host
  readonly #transport: Transport
  readonly #reader = new FrameReader(MAX_HELLO_BYTES)
  readonly #outbox: Outbox
  #session: Session | null = null
  /** What is done with the next message. */
  #state: 'greeting' | 'authenticating' | 'serving' | 'closed' = 'greeting'
  #isPaused = false
  #openedAt = performance.now()
  #heardAt = this.#openedAt
  /** Since when the client has taken nothing of what it is sent. */
  #stalledAt: number | undefined
  #lastUnsentBytes = 0

  constructor(host: Host, transport: Transport, listener: string) {
    this.#host = host
    this.#transport = transport
    this.peer = { address: transport.peer, listener }
    this.#outbox = new Outbox(transport, 'overtaking')
    transport.attach({
      data: (bytes) => this.#receive(bytes),
      drain: () => this.#drained(),
      close: () => this.#closed()
    })
  }

  get unsentBytes(): number {
    return this.#outbox.unsentBytes
  }

  send(message: Message): void {
    if (this.#state !== 'closed') this.#outbox.send(packFrame(message))
  }

  /** The session has room for requests again. */
  proceed(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#transport.resume()
    this.#pump()
  }

  /** Breaks the connection off if the client has been silent or has not read for too long. */
  check(now: number): void {
    const { helloMs, silenceMs, stallMs } = this.#host.limits
    const unsent = this.unsentBytes
    if (unsent === 0 || unsent < this.#lastUnsentBytes) this.#stalledAt = undefined
    else this.#stalledAt ??= now
    this.#lastUnsentBytes = unsent

    if (this.#state !== 'serving' && now - this.#openedAt > helloMs)
      this.#fail('The client does not say who it is')
    else if (this.#stalledAt !== undefined && now - this.#stalledAt > stallMs)
      this.#fail('The client reads nothing')
    else if (!this.#isPaused && now - this.#heardAt > silenceMs) this.#fail('The client is silent')
  }

  /** Says that the server is closing, and ends the connection after everything else was sent. */
  end(): void {
    this.send([Tell.closing])
    this.#outbox.flush()
    this.#transport.end()
  }

  destroy(): void {
    this.#transport.destroy()
  }

  #receive(bytes: Uint8Array): void {
    this.#heardAt = performance.now()
    this.#reader.push(bytes)
    this.#pump()
  }

  /** Takes messages as long as there is room for them. */
  #pump(): void {
    try {
      while (!this.#isPaused && this.#state !== 'authenticating' && this.#state !== 'closed') {
        if (this.#session?.isBusy) this.#pause()
        else {
          const message = this.#reader.next()
          if (message === undefined) return
          this.#take(message)
        }
      }
    } catch (error) {
      this.#refuse(error as Error)
    }
  }

  #take(message: Message): void {
    const [kind] = message
    const session = this.#session
    if (session === null) {
      if (kind !== Ask.hello) throw protocolError('A client must say hello first')
      this.#state = 'authenticating'
      this.#greet(new PartReader(message)).catch((error) => this.#refuse(error))
      return
    }

    const request = requests.get(kind)
    if (request !== undefined) session.take(message, request)
    else if (kind === Ask.received) session.received(new PartReader(message).numbers('numbers'))
    else if (kind === Ask.credit) session.credit(new PartReader(message))
    else if (kind === Both.ping) this.#outbox.sendFirst(packFrame([Both.pong]))
    else if (kind === Ask.bye) this.#bye(session)
    else if (kind !== Both.pong) throw protocolError('A message of unknown kind came')
  }

  async #greet(parts: PartReader): Promise<void> {
    const version = parts.number('version')
    if (version !== PROTOCOL_VERSION) {
      throw protocolError(
        `The server speaks version ${PROTOCOL_VERSION} of the protocol, the client ${version}`
      )
    }

    const given = parts.any()
    const token = typeof given === 'string' ? given : undefined
    const ticket = parts.optionalBytes('session')
    const user = await this.#host.authenticate(token, this.peer)
    // The client may have left, or been sent away, in the meantime.
    if (this.#state !== 'authenticating') return

    const known = this.#host.sessionOf(ticket, user)
    const session = known ?? this.#host.beginSession(user)
    session.attach(this)
    this.#session = session
    this.#state = 'serving'
    this.#reader.maxMessageBytes = this.#host.limits.messageBytes
    this.send([Tell.welcome, session.ticket, known !== undefined, this.#host.welcome(user)])
    session.resendEvents()
    this.#pump()
  }

  #bye(session: Session): void {
    this.#session = null
    this.#state = 'closed'
    this.#host.endSession(session)
    this.#transport.end()
  }

  #pause(): void {
    this.#isPaused = true
    this.#transport.pause()
  }

  #drained(): void {
    this.#outbox.flush()
    if (this.#isPaused && this.#session?.isBusy === false) this.proceed()
  }

  /** Tells the client why, and ends the connection. */
  #refuse(error: Error): void {
    if (this.#state === 'closed') return
    this.#outbox.sendFirst(packFrame([Tell.refused, ...described(error)]))
    this.#outbox.flush()
    this.#state = 'closed'
    this.#transport.end()
    this.#host.warn(error, this.peer)
  }

  #fail(reason: string): void {
    this.#host.warn(netError('NET_LIMIT', reason), this.peer)
    this.#transport.destroy()
  }

  #closed(): void {
    this.#state = 'closed'
    this.#session?.detach(this)
    this.#host.forget(this)
  }
}
