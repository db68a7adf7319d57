// Runs the published test suite of abstract-level, unmodified, against databases over an array: an asynchronous one and one
// with synchronous methods, both with delays, and sublevels of them. The argument names one of them; without it, all run, or in
// the short form the first.

import { BackendLevel } from 'terrace-core'
import { runSuites } from '../../../../tests/support/suite.mjs'
import { ArrayBackend } from '../support/array-backend.js'

const seed = Number(process.env.TERRACE_SEED ?? Date.now() % 1_000_000_000)

let made = 0
const array = (kind, options) => new BackendLevel(new ArrayBackend({ ...kind, seed: seed + made++ }), options)
const asynchronous = { formats: ['view'] }
const synchronous = { formats: ['utf8', 'buffer'], sync: true }

/** How to make the databases, and how many tests the suite registers for them today. abstract-level may add more. */
const kinds = {
  asynchronous: { tests: 1470, factory: (options) => array(asynchronous, options) },
  synchronous: { isLong: true, tests: 1500, factory: (options) => array(synchronous, options) },
  sublevels: {
    isLong: true,
    tests: 1470,
    factory: (options) => array(asynchronous).sublevel('a').sublevel(['b', 'c'], options)
  }
}

runSuites(import.meta.url, kinds, ` (TERRACE_SEED=${seed})`)
