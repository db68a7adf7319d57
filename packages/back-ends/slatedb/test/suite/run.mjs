// Runs the published test suite of abstract-level, unmodified, against databases in an object store: in memory, in a directory,
// and as sublevels. The argument names one of them; without it, all run, or in the short form the first alone.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SlateLevel } from 'terrace-slatedb'
import { runSuites } from '../../../../../tests/support/suite.mjs'

const root = mkdtempSync(join(tmpdir(), 'terrace-slatedb-suite-'))
process.on('exit', () => {
  try {
    rmSync(root, { recursive: true, force: true, maxRetries: 10 })
  } catch {
    // Some tests leave their database open, and the engine still writes there.
  }
})

let made = 0
const location = () => join(root, `db-${made++}`)

// Each write is in the store before it is acknowledged all the same.
const soon = { flushIntervalMs: 0 }

runSuites(import.meta.url, {
  'a database in a directory': {
    tests: 1479,
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
