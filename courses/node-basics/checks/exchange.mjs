/** HTTP with a learner's server, watched while it goes on. */

import { request } from 'node:http'
import { soon } from './patience.mjs'

/**
 * One request and its response.
 *
 * `new Exchange({ port, method, path, headers })` begins it; `send` and `end` send its body.
 */
export class Exchange {
  /** The bytes of the body that have come. */
  body = Buffer.alloc(0)
  /** The response without its body, or undefined as long as none has come. */
  response
  /** Whether the response has come to its end. */
  isComplete = false
  #changes = []

  constructor({ port, method = 'GET', path = '/', headers = {} }) {
    // A connection of its own cannot be one that the server has closed meanwhile.
    this.request = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
    this.result = new Promise((resolve, reject) => {
      this.request.on('error', reject)
      this.request.on('response', (response) => this.#receive(response, resolve, reject))
    })
    // It is waited for later, perhaps after it has failed.
    this.result.catch(() => {})
  }

  #receive(response, resolve, reject) {
    this.response = response
    response.on('data', (chunk) => {
      this.body = Buffer.concat([this.body, chunk])
      for (const changed of this.#changes.splice(0)) changed()
    })
    response.on('error', reject)
    response.on('end', () => {
      this.isComplete = true
      resolve(this)
    })
  }

  /** Sends a part of the request's body. */
  send(chunk) {
    this.request.write(chunk)
  }

  /** Ends the request, and resolves with this exchange when the response is complete, or will not be within a reasonable time. */
  async end(chunk) {
    this.request.end(chunk)
    await soon(this.result)
    if (!this.isComplete) this.request.destroy()
    return this
  }

  /** Resolves with whether so many bytes of the response's body came within a reasonable time. */
  async has(length) {
    const enough = async () => {
      while (this.body.length < length && !this.isComplete) {
        await Promise.race([new Promise((resolve) => this.#changes.push(resolve)), this.result])
      }
    }
    await soon(enough())
    return this.body.length >= length
  }

  get status() {
    return this.response?.statusCode
  }

  /** The body as a text. */
  get text() {
    return this.body.toString()
  }
}

/** Sends one request with an optional body, and resolves with the exchange. Rejects if the connection fails. */
export function ask({ body, ...options }) {
  return new Exchange(options).end(body)
}
