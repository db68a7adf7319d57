// Runs the published test suite of abstract-level, unmodified, against databases over an array: an asynchronous one and one
// with synchronous methods, both with delays, and sublevels of them. The argument names one of them; without it, all run.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { BackendLevel } from 'terrace-core'
import { ArrayBackend } from '../support/array-backend.js'

const require = createRequire(import.meta.url)
const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

let made = 0
const array = (kind, options) => new BackendLevel(new ArrayBackend({ ...kind, seed: seed + made++ }), options)
const asynchronous = { formats: ['view'] }
const synchronous = { formats: ['utf8', 'buffer'], sync: true }

/** How to make the databases, and how many tests the suite registers for them today. abstract-level may add more. */
const kinds = {
  asynchronous: { tests: 1470, factory: (options) => array(asynchronous, options) },
  synchronous: { tests: 1500, factory: (options) => array(synchronous, options) },
  sublevels: {
    tests: 1470,
    factory: (options) => array(asynchronous).sublevel('a').sublevel(['b', 'c'], options)
  }
}

function run(name) {
  const test = require('tape')
  const suite = require('abstract-level/test')
  const { tests, factory } = kinds[name]
  let registered = 0

  suite({
    test: Object.assign((...args) => {
      registered++
      return test(...args)
    }, test),
    factory
  })

  test(`the suite registers its tests for ${name} (TERRACE_SEED=${seed})`, (t) => {
    t.ok(registered >= tests, `${registered} tests registered`)
    t.end()
  })
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
