// Runs the published test suite of abstract-level, unmodified, against Level; or, with the argument `sublevels`, against a
// sublevel three deep; with `shared`, against a shared database; with `clients`, against one that another instance owns.

import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'

const require = createRequire(import.meta.url)
const test = require('tape')
const suite = require('abstract-level/test')

// As many as the suite registers for classic-level 3.0.0. abstract-level may add more. Some are about options of open().
const EXPECTED_TESTS = { databases: 1509, sublevels: 1506, shared: 1470, clients: 1470 }

const { 2: kind = 'databases' } = process.argv
const parent = mkdtempSync(join(tmpdir(), 'terrace-suite-'))
const newDirectory = () => mkdtempSync(join(parent, 'db-'))
const factories = {
  databases: (options) => new Level(newDirectory(), options),
  sublevels: (options) => new Level(newDirectory()).sublevel('a').sublevel(['b', 'c'], options),
  shared: (options) => new Level(newDirectory(), shared(options)),
  clients: (options) => new Client(newDirectory(), options)
}

/** The options, with `shared` where tests that compare options do not see it. */
function shared(options) {
  return Object.assign(Object.create({ shared: true }), options)
}

/** An instance that begins to open when another one owns the database. */
class Client extends Level {
  #owner

  constructor(location, options) {
    super(location, shared(options))
    this.#owner = new Level(location, shared({ passive: true }))
  }

  async _open(options) {
    try {
      await this.#owner.open(options)
    } catch ({ cause }) {
      throw cause
    }
    return super._open({ ...options, errorIfExists: false })
  }

  async _close() {
    await super._close()
    await this.#owner.close()
  }
}

let registered = 0

suite({
  test: Object.assign((...args) => {
    registered++
    return test(...args)
  }, test),
  factory: factories[kind]
})

// Some tests leave a shared database open, and with it a socket.
let hasFailed = false
test.onFailure(() => {
  hasFailed = true
})
test.onFinish(() => process.exit(hasFailed ? 1 : 0))

test(`the suite registers every test for ${kind} that it registers for classic-level`, (t) => {
  t.ok(registered >= EXPECTED_TESTS[kind], `${registered} tests registered`)
  t.end()
})

process.on('exit', () => rmSync(parent, { recursive: true, force: true }))
