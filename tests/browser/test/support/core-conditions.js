// The tests of conditional writes of terrace-core, as a program for a page or a worker.

import { fileURLToPath } from 'node:url'
import { bundleOf } from './bundles.js'

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url))
const node = fileOf('node-for-tests.js')

/** What the tests use of Node. */
const MODULES = ['assert/strict', 'async_hooks', 'fs', 'os', 'path', 'test', 'util']

const PROGRAM = `
  import { Buffer } from 'buffer'
  import { runTests } from ${JSON.stringify(node)}

  Object.assign(globalThis, { Buffer, process: { env: {}, on() {}, platform: 'browser' } })

  export async function run() {
    await import(${JSON.stringify(fileOf('../../../../packages/core/test/conditional-writes.test.js'))})
    return runTests('(the engine)')
  }
`

/**
 * The source of a module whose `run()` runs the tests, and resolves with the names of those that passed. It rejects with the first
 * failure. `globalThis.makeDatabase(location, options)` makes the databases, in place of the engine's.
 */
export function coreConditions() {
  const alias = Object.fromEntries(MODULES.map((name) => [`node:${name}`, node]))
  return bundleOf(PROGRAM, { ...alias, terrace: node })
}
