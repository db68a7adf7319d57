// Runs the published test suite of abstract-level, unmodified, against a served database: over each transport, over TLS'
// relatives, and on a sublevel. The argument names one of them; without it, all run.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { MemoryLevel } from 'memory-level'
import { NetLevel } from 'terrace-net'
import { createServer } from 'terrace-net/server'
import { addresses } from '../support/served.js'

const require = createRequire(import.meta.url)

/** How many tests the suite registers for a served database today. abstract-level may add more. */
const TESTS = 1470

/** A client whose server starts and stops with it. */
class ServedLevel extends NetLevel {
  #transport
  #db
  #server
  #addressOf

  constructor(transport, options, levels = []) {
    const db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
    const found = { address: undefined }
    super(() => found.address, options)
    this.#transport = transport
    this.#db = levels.length > 0 ? db.sublevel(levels) : db
    this.#addressOf = found
  }

  async _open(options) {
    this.#server = createServer(this.#db)
    this.#addressOf.address = await this.#server.listen(addresses[this.#transport]())
    return super._open(options)
  }

  async _close() {
    await super._close()
    await this.#server.close()
  }
}

const kinds = {
  unix: (options) => new ServedLevel('unix', options),
  tcp: (options) => new ServedLevel('tcp', options),
  ws: (options) => new ServedLevel('ws', options),
  'a served sublevel': (options) => new ServedLevel('unix', options, ['a', 'b']),
  'a sublevel of the client': (options) => new ServedLevel('unix').sublevel(['a', 'b'], options)
}

function run(name) {
  const test = require('tape')
  const suite = require('abstract-level/test')
  let registered = 0

  suite({
    test: Object.assign((...args) => {
      registered++
      return test(...args)
    }, test),
    factory: kinds[name]
  })

  test(`the suite registers its tests for ${name}`, (t) => {
    t.ok(registered >= TESTS, `${registered} tests registered`)
    t.end()
  })

  // Some tests leave their database open, and with it a socket.
  let failed = false
  test.onFailure(() => {
    failed = true
  })
  test.onFinish(() => process.exit(failed ? 1 : 0))
}

const [name] = process.argv.slice(2)
if (name !== undefined) run(name)
else {
  for (const each of Object.keys(kinds)) {
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), each], {
      stdio: 'inherit'
    })
    if (status !== 0) process.exitCode = 1
  }
}
