/** One connection of a link: greets, then hands messages on, and asks a silent server for a sign of life. */

import { codedError } from 'terrace-core'
import { errorFrom, netError, protocolError } from '../protocol/errors.js'
import { FrameReader, type Message } from '../protocol/frame.js'
import { PROTOCOL_VERSION } from '../protocol/limits.js'
import { Ask, Both, packMessage, Tell } from '../protocol/messages.js'
import { Outbox } from '../protocol/outbox.js'
import { timerMs } from '../protocol/timer.js'
import type { Transport } from '../transport/transport.js'

/** Messages from the server are not limited: the client has asked for them. */
const MAX_MESSAGE_BYTES = 2 ** 31

/** How long a server may take to end its side, in ms. */
const BYE_MS = 5000

export class Connection {
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
  greet(token: string | undefined, ticket: Uint8Array | null, signal: AbortSignal): Promise<Message> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#transport.destroy()
        reject(signal.reason)
      }
      if (signal.aborted) {
        abort()
        return
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#onClose = (cause) =>
        reject(netError('NET_OFFLINE', 'The server has closed the connection', cause))
      this.#onMessage = (message) => {
        signal.removeEventListener('abort', abort)
        if (message[0] === Tell.welcome) resolve(message)
        else {
          reject(message[0] === Tell.refused ? errorFrom(message[1], message[2]) : noWelcome())
          this.#transport.destroy()
        }
        this.#onMessage = (later) => this.#early.push(later)
      }
      this.outbox.send(packMessage([Ask.hello, PROTOCOL_VERSION, token ?? null, ticket]))
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
    this.#timer = setInterval(() => this.#check(), timerMs(this.#keepAliveMs))
    // A program ends when nothing else is left to do, as with a database in a directory.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  destroy(): void {
    this.#transport.destroy()
  }

  /** Ends the connection once everything was sent. The session stays. */
  end(): void {
    this.outbox.flush()
    this.#transport.end()
  }

  /** Ends the session and the connection. */
  bye(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#transport.destroy(), BYE_MS)
      this.#onClose = () => {
        clearTimeout(timer)
        resolve()
      }
      this.outbox.sendFirst(packMessage([Ask.bye]))
      this.end()
    })
  }

  #receive(bytes: Uint8Array): void {
    this.#isQuiet = false
    this.#guarded(() => {
      this.#reader.push(bytes)
      for (let message = this.#reader.next(); message !== undefined; message = this.#reader.next()) {
        if (message[0] === Both.ping) this.outbox.sendFirst(packMessage([Both.pong]))
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
        `The server has not answered for ${2 * this.#keepAliveMs} ms: it may be down, or its event loop may be blocked`
      )
      this.#transport.destroy()
    } else {
      this.#isQuiet = true
      this.outbox.sendFirst(packMessage([Both.ping]))
    }
  }

  #closed(cause: Error | undefined): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#cause ??= cause
    this.#onClose(this.#cause)
  }
}

function noWelcome(): Error {
  return protocolError(
    'The server answered the handshake with neither a welcome nor a refusal: check that the address is that of a terrace-net server'
  )
}
