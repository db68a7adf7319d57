// A server of dynalite on a database of a given class, and requests to it in DynamoDB's protocol.

import { once } from 'node:events'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

// dynalite takes its class from the package `level` once, when it is loaded. Here it gets the class that is chosen at that
// time.
let ChosenClass
require('level').Level = function Level(...args) {
  return new ChosenClass(...args)
}
const dynalite = require('dynalite')

/** dynalite checks whether a request is signed, but not by whom. */
const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=a/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b'

/** A server, and the means to send it requests. */
export class Server {
  #server

  /**
   * Starts a server on a free port of this machine.
   *
   * @param {Function} DatabaseClass - The class of the database.
   * @param {string} directory - Its directory.
   */
  static async start(DatabaseClass, directory) {
    ChosenClass = DatabaseClass
    const started = new Server()
    started.#server = dynalite({ path: directory, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
    started.#server.listen(0, '127.0.0.1')
    await once(started.#server, 'listening')
    return started
  }

  /**
   * Requests one operation, such as 'PutItem'.
   *
   * @param {string} operation
   * @param {object} body
   * @returns {Promise<any>} The answer, or `{ error }` with the type of the error if the server refuses the request.
   */
  async ask(operation, body) {
    const { port } = this.#server.address()
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': `DynamoDB_20120810.${operation}`,
        'X-Amz-Date': '20260101T000000Z',
        Authorization: SIGNATURE
      },
      body: JSON.stringify(body)
    })
    const answer = await response.json()
    return response.ok ? answer : { error: answer.__type.split('#').at(-1) }
  }

  /** Stops the server and closes its database. */
  stop() {
    return new Promise((resolve, reject) => {
      this.#server.close((error) => (error ? reject(error) : resolve()))
    })
  }
}
