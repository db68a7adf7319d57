// The client of one measurement, in a separate process: `node --expose-gc client.js TARGET ADDRESS-OR-LOCATION SETTINGS`. Sends its
// parent the results, by workload.

import { fill } from './entries.js'
import { TARGETS } from './targets.js'
import { measure } from './workloads.js'

const [target, where, text] = process.argv.slice(2)
const settings = JSON.parse(text)
const { connect, open, serve } = TARGETS[target]
const db = serve === undefined ? open(where) : connect(where)
await db.open()
if (serve === undefined) await fill(db, settings.entries)
for (const workload of settings.workloads) {
  globalThis.gc()
  process.send({ workload, ...(await measure(workload, db, settings)) })
}
await db.close()
process.disconnect()
