// A client over a Unix socket, whose server and database are in a separate process.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { NetLevel } from 'terrace-net'

const SERVER = fileURLToPath(new URL('server.js', import.meta.url))

/** A class of clients in front of the class that a module of `targets/` exports. */
export function servedClass(module) {
  return class extends NetLevel {
    #location
    #server
    #found

    constructor(location, options) {
      const found = { address: undefined }
      super(() => found.address, options)
      this.#location = location
      this.#found = found
    }

    async _open(options) {
      mkdirSync(this.#location, { recursive: true })
      this.#server = fork(SERVER, [module, this.#location], { execArgv: [] })
      const [{ address }] = await once(this.#server, 'message')
      this.#found.address = address
      return super._open(options)
    }

    async _close() {
      await super._close()
      this.#server.send('end')
      await once(this.#server, 'exit')
    }
  }
}
