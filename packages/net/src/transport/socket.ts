/** TCP, TLS and Unix sockets. */

import type { Socket } from 'node:net'
import type { Transport, TransportHandlers } from './transport.js'

export class SocketTransport implements Transport {
  readonly peer: string
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
    this.peer =
      socket.remoteAddress === undefined ? 'a local socket' : `${socket.remoteAddress}:${socket.remotePort}`
    // Messages leave once a turn of the event loop, so there is nothing to wait for.
    socket.setNoDelay(true)
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  attach({ data, drain, close }: TransportHandlers): void {
    let cause: Error | undefined
    this.#socket.on('data', data)
    this.#socket.on('drain', drain)
    this.#socket.on('error', (error) => {
      cause = error
    })
    this.#socket.on('end', () => this.#socket.end())
    this.#socket.on('close', () => close(cause))
  }

  write(bytes: Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}
