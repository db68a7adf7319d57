// A proxy between clients and a server, on a Unix socket. It cuts connections, at any byte, holds back what the server
// sends, or swallows everything.

import { connect, createServer } from 'node:net'
import { temporarySocket } from './temporary.js'

/** Starts a proxy. `target` is the address of the server, which may be changed later. */
export async function startProxy(target) {
  const proxy = new CuttingProxy(target)
  await proxy.listen()
  return proxy
}

class CuttingProxy {
  target
  /** Where clients connect. */
  address
  /** How many bytes a new connection may carry, in both directions together, before it is cut: a function. */
  cutAfter = () => Number.POSITIVE_INFINITY
  /** Whether connections are closed as soon as they come. */
  isRefusing = false
  /** How many connections there were, and how many of them were cut at a byte. */
  connections = 0
  cuts = 0
  /** How many bytes were swallowed. */
  swallowed = 0
  /** What the server has sent and is held back, as functions that pass it on; undefined if it passes at once. */
  #held
  #isBlackHole = false
  #pairs = new Set()
  #server

  constructor(target) {
    this.target = target
  }

  async listen() {
    const path = temporarySocket()
    this.#server = createServer((client) => this.#accept(client))
    await new Promise((resolve) => this.#server.listen(path, resolve))
    this.address = `unix:${path}`
  }

  /** Cuts all connections now. */
  cut() {
    for (const pair of [...this.#pairs]) pair.destroy()
  }

  /** Swallows all bytes from now on, without closing anything. */
  blackHole() {
    this.#isBlackHole = true
  }

  /** Holds back what the server sends from now on. */
  hold() {
    this.#held = []
  }

  /** Passes on what was held back, and what comes later. */
  release() {
    const held = this.#held
    this.#held = undefined
    for (const pass of held) pass()
  }

  /** Lets bytes pass again. What was swallowed is lost, so the connections of that time are cut. */
  restore() {
    this.#isBlackHole = false
    this.isRefusing = false
    this.cut()
  }

  async close() {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client) {
    this.connections++
    if (this.isRefusing) {
      client.destroy()
      return
    }

    const server = connect({ path: this.target.slice('unix:'.length) })
    const pair = {
      client,
      left: this.cutAfter(),
      destroy: () => {
        client.destroy()
        server.destroy()
        this.#pairs.delete(pair)
      }
    }
    this.#pairs.add(pair)
    for (const [from, to] of [
      [client, server],
      [server, client]
    ]) {
      from.on('data', (bytes) => this.#pass(pair, to, bytes))
      from.on('error', pair.destroy)
      from.on('close', pair.destroy)
    }
  }

  #pass(pair, to, bytes) {
    if (this.#isBlackHole) {
      this.swallowed += bytes.length
      return
    }
    if (this.#held !== undefined && to === pair.client) {
      this.#held.push(() => this.#pass(pair, to, bytes))
      return
    }
    const passing = bytes.subarray(0, pair.left)
    pair.left -= bytes.length
    if (!to.destroyed) to.write(passing)
    if (pair.left > 0) return
    this.cuts++
    // Gives what has passed a chance to arrive.
    setImmediate(pair.destroy)
    pair.left = 0
  }
}
