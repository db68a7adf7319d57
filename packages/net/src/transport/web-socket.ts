/** WebSocket: the browser's, or that of `ws`, which has the same interface. Each binary message carries some of the bytes. */

import { bytesOf } from '../protocol/bytes.js'
import { netError } from '../protocol/errors.js'
import { MAX_BUFFERED_BYTES, MAX_HELLO_BYTES } from '../protocol/limits.js'
import type { Transport, TransportHandlers } from './transport.js'

/** What both kinds of WebSocket have. */
export interface WebSocketLike {
  binaryType: string
  readonly bufferedAmount: number
  readonly readyState: number
  send(data: Uint8Array): void
  close(code?: number): void
  addEventListener(type: string, listener: (event: never) => void): void
  /** Only `ws` has these. */
  pause?(): void
  resume?(): void
  terminate?(): void
}

/** The socket below a WebSocket of `ws`. */
export interface SocketBelow {
  prependListener(event: 'data', listener: (bytes: Uint8Array) => void): unknown
}

/** What WebSocket may add to a greeting. */
const FRAMING_BYTES = 1024

interface MessageLike {
  readonly data: unknown
}

/** A browser tells a page nothing of what went wrong. */
interface ErrorLike {
  readonly error?: Error
  readonly message?: string
}

const OPEN = 1

/** More than this leaves in several messages, because receivers bound their size. */
export const PIECE_BYTES = 1 << 20

/** A WebSocket does not tell when it has sent what it holds, so one looks. */
const LOOK_MS = 2

export class WebSocketTransport implements Transport {
  readonly peer: string
  readonly #socket: WebSocketLike
  #drain: (() => void) | undefined
  #close = (): void => {}
  #isClosed = false
  #looking: ReturnType<typeof setTimeout> | undefined
  #cause: Error | undefined
  #earlyBytes: number | undefined = 0
  #receiving: (() => void) | undefined
  receivingBytes = 0

  /** @param below - Tells how much of a message has come: `ws` holds it until all of it is there. */
  constructor(socket: WebSocketLike, peer: string, below?: SocketBelow) {
    this.#socket = socket
    this.peer = peer
    socket.binaryType = 'arraybuffer'
    // Before `ws` itself, which may hand over a message that is complete now.
    below?.prependListener('data', this.#count)
  }

  welcomed(): void {
    this.#earlyBytes = undefined
  }

  /** Counts what has come. After a message there is at most the rest of a chunk, which is not counted. */
  readonly #count = ({ length }: Uint8Array): void => {
    this.receivingBytes += length
    this.#receiving?.()
    if (this.#earlyBytes === undefined) return
    this.#earlyBytes += length
    if (this.#earlyBytes <= MAX_HELLO_BYTES + FRAMING_BYTES) return
    this.#cause ??= netError('NET_LIMIT', 'The client sent too much before it authenticated')
    this.destroy()
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  attach({ data, receiving, drain, close }: TransportHandlers): void {
    this.#drain = drain
    this.#receiving = receiving
    this.#close = () => close(this.#cause)
    this.#socket.addEventListener('message', ({ data: received }: MessageLike) => {
      this.receivingBytes = 0
      // Text is no part of the protocol; as a frame of no bytes it ends the connection.
      if (!this.#isClosed) data(received instanceof ArrayBuffer ? bytesOf(received) : new Uint8Array(4))
    })
    this.#socket.addEventListener('error', (event: ErrorLike) => {
      this.#cause ??= errorOf(event)
    })
    this.#socket.addEventListener('close', () => this.#closed())
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.readyState !== OPEN) return
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      this.#socket.send(bytes.subarray(start, start + PIECE_BYTES))
    }
    if (this.bufferedBytes >= MAX_BUFFERED_BYTES) this.#look()
  }

  pause(): void {
    this.#socket.pause?.()
  }

  resume(): void {
    this.#socket.resume?.()
  }

  end(): void {
    this.#socket.close(1000)
  }

  destroy(): void {
    if (this.#socket.terminate !== undefined) this.#socket.terminate()
    else {
      // A browser waits a minute for a peer that does not answer before it says that the connection is closed.
      this.#socket.close()
      queueMicrotask(() => this.#closed())
    }
  }

  #closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#looking)
    this.#close()
  }

  #look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined
      if (this.bufferedBytes >= MAX_BUFFERED_BYTES) this.#look()
      else this.#drain?.()
    }, LOOK_MS)
  }
}

/** Resolves once a WebSocket is open. Rejects if that fails, or once the signal is aborted. */
export function whenOpen(socket: WebSocketLike, url: URL, signal: AbortSignal): Promise<Transport> {
  return new Promise((resolve, reject) => {
    const transport = new WebSocketTransport(socket, url.host)
    const abort = (): void => {
      transport.destroy()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.addEventListener('error', (event: ErrorLike) => reject(errorOf(event)))
    socket.addEventListener('open', () => {
      signal.removeEventListener('abort', abort)
      resolve(transport)
    })
  })
}

function errorOf({ error, message }: ErrorLike): Error {
  return error ?? new Error(message || 'The WebSocket failed')
}
