// The server of one measurement, in a separate process: `node --expose-gc server.js TARGET LOCATION ADDRESS ENTRIES`. TARGET may be `soak`.
// Sends its parent the address, and its memory use on request.

import { fill } from './entries.js'
import { SOAKED, TARGETS } from './targets.js'

const [target, location, address, entries] = process.argv.slice(2)
const { open, serve } = target === 'soak' ? SOAKED : TARGETS[target]
const db = open(location)
await db.open()
await fill(db, Number(entries))
process.on('message', async () => {
  // What was just released is collected in the second run at the latest.
  for (let i = 0; i < 2; i++) {
    globalThis.gc()
    await new Promise(setImmediate)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send({ rss, heapUsed, external })
})
process.on('disconnect', () => process.exit())
process.send({ address: await serve(db, address) })
