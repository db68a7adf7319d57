// Runs the published test suite of abstract-level, unmodified, against a served database: over each transport, over TLS'
// relatives, and on a sublevel. The argument names one of them; without it, all run, or in the short form a Unix socket alone,
// without sublevels.

import { MemoryLevel } from 'memory-level'
import { runSuites } from '../../../../tests/support/suite.mjs'
import { ServedLevel } from '../support/served-level.js'

/** How many tests the suite registers for a served database today. */
const TESTS = 1470
/** The same, where it does not repeat itself on a sublevel. */
const TESTS_ONCE = 738

/** Serves a database in memory, or a sublevel of one. */
function serve(transport, options, levels = []) {
  const db = new MemoryLevel({ keyEncoding: 'buffer', valueEncoding: 'buffer' })
  return new ServedLevel(transport, db, options, levels.length > 0 ? db.sublevel(levels) : db)
}

const factories = {
  unix: (options) => serve('unix', options),
  tcp: (options) => serve('tcp', options),
  ws: (options) => serve('ws', options),
  'a served sublevel': (options) => serve('unix', options, ['a', 'b']),
  'a sublevel of the client': (options) => serve('unix').sublevel(['a', 'b'], options)
}

runSuites(
  import.meta.url,
  Object.fromEntries(
    Object.entries(factories).map(([name, factory]) => [
      name,
      { tests: TESTS, testsOnce: TESTS_ONCE, factory, isLong: name !== 'unix' }
    ])
  )
)
