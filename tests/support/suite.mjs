// Runs the published test suite of abstract-level, unmodified: on kinds of databases, each in a process of its own, or on one, with
// counts.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

/**
 * Runs the suite on each kind, or on the one that the argument of the program names. Each has a `factory`, as the suite wants it,
 * and says how many `tests` the suite registers for it today; abstract-level may add more.
 *
 * @param url - The program that calls this, which runs again for each kind.
 * @param note - What to print to repeat a run.
 */
export function runSuites(url, kinds, note = '') {
  const [name] = process.argv.slice(2)
  if (name !== undefined) {
    run(name, kinds[name], note)
    return
  }

  for (const each of Object.keys(kinds)) {
    const { status } = spawnSync(process.execPath, [fileURLToPath(url), each], { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
}

function run(name, { tests, factory }, note) {
  const test = require('tape')
  const registered = register(test, factory)

  test(`the suite registers its tests for ${name}${note}`, (t) => {
    t.ok(registered() >= tests, `${registered()} tests registered`)
    t.end()
  })

  // Some tests leave their database open, and with it perhaps a socket.
  let hasFailed = false
  test.onFailure(() => {
    hasFailed = true
  })
  test.onFinish(() => process.exit(hasFailed ? 1 : 0))
}

/** Registers the tests of the suite for a factory. Returns a function that says how many there are. */
function register(test, factory) {
  let registered = 0
  require('abstract-level/test')({
    test: Object.assign((...args) => {
      registered++
      return test(...args)
    }, test),
    factory
  })
  return () => registered
}

/**
 * Runs the suite in this process, which can do so once. Some tests leave their database open.
 *
 * @returns What each test came to, in order: its name, and what failed in it.
 */
export function suiteOutcomes(factory) {
  const test = require('tape')
  const tests = new Map()
  return new Promise((resolve) => {
    const rows = test.createStream({ objectMode: true })
    rows.on('data', ({ type, id, name, skip, test: of, ok, ...row }) => {
      if (type === 'test') tests.set(id, { name, isSkipped: skip === true, failures: [] })
      else if (type === 'assert' && !ok) tests.get(of).failures.push(failure(name, row))
    })
    rows.on('end', () => resolve([...tests.values()]))
    register(test, factory)
  })
}

function failure(assertion, { error }) {
  return error === undefined ? String(assertion) : `${assertion}: ${error.message}`
}
