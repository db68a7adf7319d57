// Runs the published test suite of abstract-level, unmodified, against databases in LMDB: with default options, shared, and as
// sublevels. The argument selects one of these. Without it, all run; in the short form, only the first, without sublevels.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LmdbLevel } from 'terrace-lmdb'
import { runSuites } from '../../../../../tests/support/suite.mjs'

const root = mkdtempSync(join(tmpdir(), 'terrace-lmdb-suite-'))
process.on('exit', () => rmSync(root, { recursive: true, force: true }))

let made = 0
const location = () => join(root, `db-${made++}`)

runSuites(import.meta.url, {
  'a database': { tests: 1509, testsOnce: 756, factory: (options) => new LmdbLevel(location(), options) },
  'a shared database': {
    isLong: true,
    tests: 1509,
    factory: (options) => new LmdbLevel(location(), { ...options, shared: true })
  },
  'a sublevel': {
    isLong: true,
    tests: 1506,
    factory: (options) => new LmdbLevel(location()).sublevel(['a', 'b'], options)
  }
})
