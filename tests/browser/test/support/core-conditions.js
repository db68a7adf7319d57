// The tests of conditional writes, updates and versions of terrace-core, as a program for a page or a worker.

import { fileURLToPath } from 'node:url'
import { bundleOf } from './bundles.js'

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url))
const node = fileOf('node-for-tests.js')

/** What the tests use of Node. */
const MODULES = ['assert/strict', 'async_hooks', 'fs', 'os', 'path', 'test', 'util']

const core = (file) => JSON.stringify(fileOf(`../../../../packages/core/test/${file}.test.js`))

const PROGRAM = `
  import { Buffer } from 'buffer'
  import { runTests } from ${JSON.stringify(node)}

  Object.assign(globalThis, { Buffer, process: { env: {}, on() {}, platform: 'browser' } })

  export async function run({ versions }) {
    await import(${core('conditional-writes')})
    await import(${core('update')})
    if (versions) await import(${core('versions')})
    return runTests('(the engine)')
  }
`

/**
 * The source of a module whose `run({ versions })` runs the tests, those of versions as well if its parameter asks for them, and resolves
 * with the names of those that passed. It rejects with the first failure. `globalThis.makeDatabase(location, options)` makes the
 * databases, in place of the engine's.
 */
export function coreConditions() {
  const alias = Object.fromEntries(MODULES.map((name) => [`node:${name}`, node]))
  return bundleOf(PROGRAM, { ...alias, terrace: node })
}
