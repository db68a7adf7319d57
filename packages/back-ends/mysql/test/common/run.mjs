// Runs the tests of terrace-core and of the toolbox over databases in MariaDB. The argument names one part; without it, all run.

import { runParts } from '../../../../../tests/support/common.mjs'
import { serverMissing, startServer } from '../cluster/index.js'
import { UNSYNCED } from '../support/server.js'
import { name, supports } from './database.js'
import { known } from './known.js'

const missing = serverMissing()
if (missing !== undefined) {
  console.log(`The tests of terrace-core and of the toolbox are left out: ${missing}`)
} else {
  let server
  await runParts(async () => {
    server = await startServer({ args: UNSYNCED })
    const module = new URL('database.js', import.meta.url).href
    return { name, supports, module, known, environment: { TERRACE_TEST_SERVER: server.url } }
  })
  await server?.stop()
}
