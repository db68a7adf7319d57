// Runs the published test suite of abstract-level, unmodified, against databases in MariaDB: with default options, with this
// instance as the only writer, and as sublevels. The argument selects one of these. Without it, all run; in the short form, only
// the first, without sublevels.

import { MysqlLevel } from 'terrace-mysql'
import { runSuites } from '../../../../../tests/support/suite.mjs'
import { serverMissing, startServer } from '../cluster/index.js'
import { UNSYNCED } from '../support/server.js'

const missing = serverMissing()
if (missing !== undefined) {
  console.log(`The suite of abstract-level is left out: ${missing}`)
} else {
  // Programs that run one kind share the server of the program that starts them.
  const server =
    process.env.TERRACE_TEST_SERVER === undefined ? await startServer({ args: UNSYNCED }) : undefined
  process.env.TERRACE_TEST_SERVER ??= server.url
  let made = 0
  // The suite opens a hundred snapshots at once.
  const open = (options) => {
    const name = `db-${process.pid}-${made++}`
    return new MysqlLevel(process.env.TERRACE_TEST_SERVER, { name, poolSize: 160, ...options })
  }

  runSuites(import.meta.url, {
    'a database': { tests: 1479, testsOnce: 741, factory: open },
    'a database with one writer': {
      isLong: true,
      tests: 1479,
      factory: (options) => open({ ...options, shared: false })
    },
    'a sublevel': { isLong: true, tests: 1476, factory: (options) => open().sublevel(['a', 'b'], options) }
  })
  // A program that runs one kind exits on its own, and its server with it.
  if (process.argv[2] === undefined) await server?.stop()
}
