// Runs the published test suite of abstract-level, unmodified, against databases in MariaDB: as they are, written by this instance
// alone, and as sublevels. The argument names one of them; without it, all run.

import { MysqlLevel } from 'terrace-mysql'
import { runSuites } from '../../../../../tests/support/suite.mjs'
import { serverMissing, startServer } from '../cluster/index.js'
import { UNSYNCED } from '../support/server.js'

const missing = serverMissing()
if (missing !== undefined) {
  console.log(`The suite of abstract-level is left out: ${missing}`)
} else {
  // The parent of the programs that run one kind each needs no server.
  const url = process.argv[2] === undefined ? undefined : (await startServer({ args: UNSYNCED })).url
  let made = 0
  // The suite opens a hundred snapshots at once.
  const open = (options) => new MysqlLevel(url, { name: `db-${made++}`, poolSize: 160, ...options })

  runSuites(import.meta.url, {
    'a database': { tests: 1479, factory: open },
    'a database with one writer': {
      tests: 1479,
      factory: (options) => open({ ...options, shared: false })
    },
    'a sublevel': { tests: 1476, factory: (options) => open().sublevel(['a', 'b'], options) }
  })
}
