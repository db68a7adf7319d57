// Runs the test suite that abstract-leveldown publishes, unmodified: on disk, in memory, and on databases that answer later, that
// answer at once by chance, and that have hook functions. The argument names one of them.

import { createRequire } from 'node:module'
import { runSuites } from '../../../../tests/support/suite.mjs'
import { makers } from '../support/databases.js'

const require = createRequire(import.meta.url)
const suite = require('abstract-leveldown/test')

/** As many tests as the suite registers today. Some are about options of open(). */
const onDisk = { suite, tests: 294, options: { clear: true, getMany: true } }
const inMemory = {
  ...onDisk,
  tests: 288,
  options: { ...onDisk.options, createIfMissing: false, errorIfExists: false }
}

runSuites(
  import.meta.url,
  Object.fromEntries(
    Object.entries(makers).map(([name, factory]) => [
      name,
      { ...(name === 'disk' ? onDisk : inMemory), factory }
    ])
  )
)
