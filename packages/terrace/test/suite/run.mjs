// Runs the published test suite of abstract-level, unmodified, against Level, a sublevel three deep, a shared database, one that
// another instance owns, MemoryLevel, a sublevel of one, and a database that a browser's tab has from a worker. The argument names
// one of them; without it, all run, or in the short form the first ones.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level, MemoryLevel } from 'terrace'
import { runSuites } from '../../../../tests/support/suite.mjs'
import { TabLevel } from '../support/page.js'

const parent = mkdtempSync(join(tmpdir(), 'terrace-suite-'))
const newDirectory = () => mkdtempSync(join(parent, 'db-'))
process.on('exit', () => rmSync(parent, { recursive: true, force: true }))

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

// As many as the suite registers for classic-level 3.0.0. Some are about options of open().
const kinds = {
  databases: { tests: 1509, factory: (options) => new Level(newDirectory(), options) },
  memory: { tests: 1500, testsOnce: 750, factory: (options) => new MemoryLevel(options) },
  sublevels: {
    isLong: true,
    tests: 1506,
    factory: (options) => new Level(newDirectory()).sublevel('a').sublevel(['b', 'c'], options)
  },
  shared: {
    isLong: true,
    tests: 1470,
    factory: (options) => new Level(newDirectory(), shared(options))
  },
  clients: {
    isLong: true,
    tests: 1470,
    factory: (options) => new Client(newDirectory(), options)
  },
  memorySublevels: {
    isLong: true,
    tests: 1500,
    factory: (options) => new MemoryLevel().sublevel('a').sublevel(['b', 'c'], options)
  },
  tabs: {
    isLong: true,
    tests: 1470,
    factory: (options) => new TabLevel(options)
  }
}

runSuites(import.meta.url, kinds)
