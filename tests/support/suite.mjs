// Runs the published test suite of abstract-level, or of abstract-leveldown, unmodified: on kinds of databases, each in a separate
// process, or on one, with counts.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { inspect, isDeepStrictEqual } from 'node:util'
import { isShort } from './form.mjs'
import { memoryDirectory } from './memory-directory.mjs'
import { countsLine, placeOf, recordName } from './test-lines.mjs'

const require = createRequire(import.meta.url)

/** Keeps the suite from repeating itself on a sublevel. It looks for a private symbol, so every property is true. */
const IS_REPEATED = new Proxy({}, { get: () => true })

/**
 * A kind of database.
 *
 * @typedef {object} Kind
 * @property {(options?: object) => any} factory - As the suite wants it.
 * @property {number} tests - How many the suite registers for it today; abstract-level may add more.
 * @property {boolean} [isLong] - Whether only the full form runs it.
 * @property {number} [testsOnce] - How many tests the suite registers if it does not repeat itself on a sublevel, as it does. The short
 * form of a kind that has this goes without, as terrace-core's own kinds and Level do not.
 * @property {(options: object) => void} [suite] - Another suite than that of abstract-level.
 * @property {object} [options] - What that suite wants besides.
 */

/**
 * Runs the suite on each kind, or on the one that the first argument of the program names. Prints what fails, and counts; as TAP,
 * for programs that read it, if the second argument is `--tap`. `TERRACE_TEST_NAMES` names a file to which the names of the tests
 * are added.
 *
 * @param {string} url - The program that calls this, which runs again for each kind.
 * @param {Record<string, Kind>} kinds
 * @param {string} note - What to print to repeat a run.
 */
export function runSuites(url, kinds, note = '') {
  const [name, format] = process.argv.slice(2)
  const program = fileURLToPath(url)
  if (name !== undefined) {
    if (format === '--tap') runAsTap(name, kinds[name], note)
    else run(name, kinds[name], note, placeOf(program))
    return
  }

  for (const [each, { isLong = false }] of Object.entries(kinds)) {
    if (isShort && isLong) continue
    const env = { ...process.env, TMPDIR: memoryDirectory() }
    const { status } = spawnSync(process.execPath, [program, each], { stdio: 'inherit', env })
    if (status !== 0) process.exitCode = 1
  }
}

function run(name, kind, note, file) {
  const begun = performance.now()
  const test = loadTape()
  let isOver = false
  // Where nothing is left to wait for, the process ends in the middle of a test.
  process.on('exit', () => {
    if (isOver) return
    console.log(`✖ ${name}: the suite has not come to its end, but to: ${tests.at(-1)?.name}${note}`)
    process.exit(1)
  })
  const { tests, ended } = collect(test)
  const registered = register(test, kind, isOnce(kind))
  registersAll(test, name, kind, registered, note)

  ended.then(() => {
    isOver = true
    let assertions = 0
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const { name: each, isSkipped, failures, assertions: held } of tests) {
      counts[failures.length > 0 ? 'failed' : isSkipped ? 'skipped' : 'passed']++
      assertions += held
      for (const failure of failures) console.log(`✖ ${name}: ${each}: ${details(failure)}`)
    }
    const { failed } = counts
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    const what = `${name} (${assertions} assertions, ${seconds} s)${failed > 0 ? note : ''}`
    console.log(countsLine(counts, what))
    for (const each of tests) recordName(file, `${name} › ${each.name}`)
    // Some tests leave their database open, and with it perhaps a socket.
    process.exit(failed > 0 ? 1 : 0)
  })
}

function runAsTap(name, kind, note) {
  const test = loadTape()
  const registered = register(test, kind, isOnce(kind))
  registersAll(test, name, kind, registered, note)

  let hasFailed = false
  test.onFailure(() => {
    hasFailed = true
  })
  test.onFinish(() => process.exit(hasFailed ? 1 : 0))
}

/**
 * Loads tape with a faster deep-equal. The original takes half the time of a suite: to find the type of a value it calls methods of a
 * dozen classes on it and catches their errors. It is still asked about values that Node does not find strictly equal.
 */
function loadTape() {
  const requireOfTape = createRequire(require.resolve('tape'))
  const file = requireOfTape.resolve('deep-equal')
  const deepEqual = requireOfTape(file)
  require.cache[file].exports = (a, b, options) =>
    (options?.strict === true && isDeepStrictEqual(a, b)) || deepEqual(a, b, options)
  return require('tape')
}

const isOnce = ({ testsOnce }) => isShort && testsOnce !== undefined

/**
 * Registers the suite's tests for a kind. Returns a function that counts them.
 *
 * @param {boolean} [once] - Whether the suite does not repeat itself on a sublevel.
 */
function register(test, { factory, suite = require('abstract-level/test'), options }, once = false) {
  let registered = 0
  suite({
    ...options,
    test: Object.assign((...args) => {
      registered++
      return test(...args)
    }, test),
    factory,
    ...(once && { internals: IS_REPEATED })
  })
  return () => registered
}

function registersAll(test, name, kind, registered, note) {
  const tests = isOnce(kind) ? kind.testsOnce : kind.tests
  test(`the suite registers its tests for ${name}${note}`, (t) => {
    t.ok(registered() >= tests, `${registered()} tests registered`)
    t.end()
  })
}

/**
 * Runs the suite in this process, which can do so once. Some tests leave their database open.
 *
 * @returns What each test came to, in order: its name, and what failed in it.
 */
export async function suiteOutcomes(factory) {
  const test = loadTape()
  const { tests, ended } = collect(test)
  register(test, { factory })
  await ended
  return tests.map(({ name, isSkipped, failures }) => ({ name, isSkipped, failures: failures.map(summary) }))
}

/**
 * Collects what the tests come to that will be registered: of each one its name, how many of its assertions held, and those that
 * failed.
 */
function collect(test) {
  const tests = []
  const byId = new Map()
  const rows = test.createStream({ objectMode: true })
  rows.on('data', (row) => {
    if (row.type === 'test') {
      const { id, name, skip } = row
      byId.set(id, { name, isSkipped: skip === true, assertions: 0, failures: [] })
      tests.push(byId.get(id))
    } else if (row.type === 'assert') {
      const of = byId.get(row.test)
      if (row.ok) of.assertions++
      else of.failures.push(row)
    }
  })
  const ended = new Promise((resolve) => {
    rows.on('end', resolve)
  })
  return { tests, ended }
}

function summary({ name, error }) {
  return error === undefined ? String(name) : `${name}: ${causes(error).join(': ')}`
}

/** What an error says, and what its causes do. */
function causes({ code, message, cause }) {
  const said = code === undefined ? message : `${code}: ${message}`
  return cause instanceof Error ? [said, ...causes(cause)] : [said]
}

/** What to read of an assertion that failed. */
function details({ name, operator, expected, actual, at, error }) {
  const values = operator === 'fail' ? '' : `\n  expected ${inspect(expected)}\n  actual ${inspect(actual)}`
  const thrown = actual instanceof Error ? actual : error
  const shown = thrown === undefined ? '' : `\n  ${inspect(thrown)}`
  return `${name}${values}${at === undefined ? '' : `\n  at ${at}`}${shown}`
}
