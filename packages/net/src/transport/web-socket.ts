/** WebSocket: the browser's, or that of `ws`, which has the same interface. Each binary message carries some of the bytes. */

import { bytesOf } from '../protocol/bytes.js'
import { MAX_BUFFERED_BYTES } from '../protocol/limits.js'
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

const OPEN = 1

/** More than this leaves in several messages, because receivers bound their size. */
export const PIECE_BYTES = 1 << 20

/** A WebSocket does not tell when it has sent what it holds, so one looks. */
const LOOK_MS = 2

export class WebSocketTransport implements Transport {
  readonly peer: string
  readonly #socket: WebSocketLike
  #drain: (() => void) | undefined
  #looking: ReturnType<typeof setTimeout> | undefined

  constructor(socket: WebSocketLike, peer: string) {
    this.#socket = socket
    this.peer = peer
    socket.binaryType = 'arraybuffer'
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  attach({ data, drain, close }: TransportHandlers): void {
    let cause: Error | undefined
    this.#drain = drain
    this.#socket.addEventListener('message', ({ data: received }: { data: unknown }) => {
      // Text is no part of the protocol; as a frame of no bytes it ends the connection.
      data(received instanceof ArrayBuffer ? bytesOf(received) : new Uint8Array(4))
    })
    this.#socket.addEventListener('error', (event: { error?: Error; message?: string }) => {
      cause = event.error ?? new Error(event.message || 'The WebSocket failed')
    })
    this.#socket.addEventListener('close', () => {
      clearTimeout(this.#looking)
      close(cause)
    })
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
    if (this.#socket.terminate === undefined) this.#socket.close()
    else this.#socket.terminate()
  }

  #look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined
      if (this.bufferedBytes >= MAX_BUFFERED_BYTES) this.#look()
      else this.#drain?.()
    }, LOOK_MS)
  }
}
