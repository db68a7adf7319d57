// Runs the published test suite of abstract-level, unmodified, against databases in an object store: in memory, in a directory,
// and as sublevels. The argument names one of them; without it, all run, or in the short form the first alone, without sublevels.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SlateLevel } from 'terrace-slatedb'
import { memoryDirectory } from '../../../../../tests/support/memory-directory.mjs'
import { runSuites } from '../../../../../tests/support/suite.mjs'

// The program that starts the others owns the directory, and removes it once they have ended: some tests leave their database open, and
// its engine keeps writing until the process exits.
const { TERRACE_SUITE_DIRECTORY: given } = process.env
const root = given ?? mkdtempSync(join(memoryDirectory(), 'terrace-slatedb-suite-'))
process.env.TERRACE_SUITE_DIRECTORY = root
if (given === undefined) {
  process.on('exit', () => {
    try {
      rmSync(root, { recursive: true, force: true, maxRetries: 10 })
    } catch {
      // Started for one kind alone, this process is the one that still writes.
    }
  })
}

let made = 0
const location = () => join(root, `db-${process.pid}-${made++}`)

// Each write is in the store before it is acknowledged all the same.
const soon = { flushIntervalMs: 0 }

runSuites(import.meta.url, {
  'a database in a directory': {
    tests: 1479,
    testsOnce: 741,
    factory: (options) => new SlateLevel(location(), { ...options, ...soon })
  },
  'a database in memory': {
    isLong: true,
    tests: 1473,
    factory: (options) => new SlateLevel('memory:///', { ...options, ...soon })
  },
  'a sublevel': {
    isLong: true,
    tests: 1476,
    factory: (options) => new SlateLevel(location(), soon).sublevel(['a', 'b'], options)
  }
})
