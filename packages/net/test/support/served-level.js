// A client whose server starts and stops with it, in front of a separate database.

import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { addresses } from './served.js'

export class ServedLevel extends NetLevel {
  #transport
  #db
  #served
  #server
  #found

  /**
   * @param transport - One of {@link addresses}.
   * @param db - The database, which is opened and closed with the client.
   * @param served - What the server offers: the database, or a sublevel of it.
   */
  constructor(transport, db, options, served = db) {
    const found = { address: undefined }
    super(() => found.address, options)
    this.#transport = transport
    this.#db = db
    this.#served = served
    this.#found = found
  }

  /** Where the server listens, while the database is open. */
  get address() {
    return this.#found.address
  }

  async _open(options) {
    await this.#db.open()
    this.#server = createServer(this.#served)
    this.#found.address = await this.#server.listen(addresses[this.#transport]())
    return super._open(options)
  }

  async _close() {
    await super._close()
    await this.#server.close()
    await this.#db.close()
  }
}
