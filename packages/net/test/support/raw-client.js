// A client that speaks the protocol by hand, and breaks its rules if a test wants that.

import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { FrameReader, packFrame } from '../../dist/protocol/frame.js'
import { PROTOCOL_VERSION } from '../../dist/protocol/limits.js'
import { Ask, Tell } from '../../dist/protocol/messages.js'

/** Connects without a greeting. */
export async function rawClient(address) {
  const client = new RawClient(address)
  await client.connected
  return client
}

/** Connects and greets. */
export async function greetedClient(address, { token = null, ticket = null } = {}) {
  const client = await rawClient(address)
  client.send(Ask.hello, PROTOCOL_VERSION, token, ticket)
  client.welcome = await client.next()
  return client
}

class RawClient {
  connected
  /** Resolves once the connection is closed. */
  closed
  /** The layer below: a socket, or enough of one for tests. */
  socket
  #reader = new FrameReader(2 ** 31)
  #messages = []
  #waiting = []
  #isClosed = false
  #number = 1

  constructor(address) {
    this.socket = /^wss?:/.test(address) ? new WebSocketAsSocket(address) : socketTo(address)
    this.connected = new Promise((resolve, reject) => {
      this.socket.once('connect', resolve)
      this.socket.once('error', reject)
    })
    this.closed = new Promise((resolve) => this.socket.once('close', resolve))
    this.closed.then(() => {
      this.#isClosed = true
      for (const { resolve } of this.#waiting.splice(0)) resolve(undefined)
    })
    this.socket.on('error', () => {})
    this.socket.on('data', (bytes) => this.#receive(bytes))
  }

  /** Sends a message. */
  send(...message) {
    this.write(packFrame(message))
  }

  /** Sends a request, and resolves to its answer. */
  async ask(kind, ...parts) {
    return this.askAs(this.#number++, kind, ...parts)
  }

  /** Sends a request with a number of the caller's choice. */
  askAs(number, kind, ...parts) {
    this.send(kind, number, ...parts)
    const isAnswer = ([told, to]) => (told === Tell.result || told === Tell.failure) && to === number
    return this.next(isAnswer)
  }

  /** Sends raw bytes. */
  write(bytes) {
    if (!this.socket.destroyed) this.socket.write(bytes)
  }

  /** The next message that is wanted; undefined if the connection is closed first. */
  next(isWanted = () => true) {
    const index = this.#messages.findIndex(isWanted)
    if (index >= 0) return Promise.resolve(this.#messages.splice(index, 1)[0])
    if (this.#isClosed) return Promise.resolve(undefined)
    return new Promise((resolve) => this.#waiting.push({ isWanted, resolve }))
  }

  close() {
    this.socket.destroy()
    return this.closed
  }

  #receive(bytes) {
    this.#reader.push(bytes)
    for (let message = this.#reader.next(); message !== undefined; message = this.#reader.next()) {
      const index = this.#waiting.findIndex(({ isWanted }) => isWanted(message))
      if (index < 0) this.#messages.push(message)
      else this.#waiting.splice(index, 1)[0].resolve(message)
    }
  }
}

function socketTo(address) {
  return connect(
    address.startsWith('unix:')
      ? { path: address.slice('unix:'.length) }
      : { host: new URL(address).hostname, port: Number(new URL(address).port) }
  )
}

/** A WebSocket with the methods and events of a socket. */
class WebSocketAsSocket {
  webSocket
  destroyed = false

  constructor(address) {
    this.webSocket = new WebSocket(address, { perMessageDeflate: false })
    this.once('close', () => {
      this.destroyed = true
    })
  }

  on(event, listener) {
    this.webSocket.on(event === 'connect' ? 'open' : event === 'data' ? 'message' : event, listener)
    return this
  }

  once(event, listener) {
    this.webSocket.once(event === 'connect' ? 'open' : event, listener)
    return this
  }

  /** The layer below the WebSocket. */
  get below() {
    return this.webSocket._socket
  }

  write(bytes) {
    if (this.webSocket.readyState === WebSocket.OPEN) this.webSocket.send(bytes)
  }

  pause() {
    this.webSocket.pause()
  }

  resume() {
    this.webSocket.resume()
  }

  end() {
    this.webSocket.close()
  }

  destroy() {
    this.destroyed = true
    this.webSocket.terminate()
  }
}
