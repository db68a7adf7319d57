// What tests of terrace-core use of Node, in a page. Tests run one after another.

import assertions, { isDeepStrictEqual } from './node-for-histories.js'

/** In the order in which they were registered. */
const tests = []

/** Of `node:test`. */
export function test(name, run) {
  tests.push([name, run])
}

/** Runs the tests that were registered whose names end so. Returns the names. */
export async function runTests(end) {
  const wanted = tests.filter(([name]) => name.endsWith(end))
  for (const [name, run] of wanted) {
    const cleanups = []
    try {
      await run({ after: (cleanup) => cleanups.push(cleanup) })
      for (const cleanup of cleanups) await cleanup()
    } catch (error) {
      throw new Error(`${name}: ${error.code} ${error.stack}`, { cause: error })
    }
  }
  return wanted.map(([name]) => name)
}

/** Of `node:async_hooks`. Nothing else runs while a test does. */
export class AsyncLocalStorage {
  #store

  run(store, work) {
    this.#store = store
    return work()
  }

  getStore() {
    return this.#store
  }
}

/** Of `terrace`. */
export class Level {
  constructor(location, options) {
    // biome-ignore lint/correctness/noConstructorReturn: the program that runs the tests decides which database it is
    return globalThis.makeDatabase(location, options)
  }
}

let made = 0

// Of `node:fs`, `node:os` and `node:path`: what makes and removes directories, which are names of databases here.
export const mkdtempSync = () => `conditions ${made++}`
export const rmSync = () => {}
export const tmpdir = () => ''
export const join = () => ''

/** Whether an error is what the test expects of it. */
function expectError(error, expected) {
  for (const [name, value] of Object.entries(expected)) {
    if (value instanceof RegExp) assertions.match(error[name], value)
    else assertions.deepEqual(error[name], value)
  }
}

/** Of `node:assert/strict`. */
export default {
  ...assertions,
  fail(message) {
    throw new Error(message)
  },
  async rejects(promise, expected) {
    await promise.then(
      () => assertions.ok(false, `does not reject with ${JSON.stringify(expected)}`),
      (error) => expectError(error, expected)
    )
  },
  throws(work, expected) {
    let error
    try {
      work()
    } catch (thrown) {
      error = thrown
    }
    assertions.ok(error !== undefined, `does not throw ${JSON.stringify(expected)}`)
    expectError(error, expected)
  }
}

export { isDeepStrictEqual }
