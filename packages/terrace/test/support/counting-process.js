// A process that shares a database. It increments a counter that others increment as well, and reports each increment to its parent.
//
//   node counting-process.js LOCATION NAME
//
// Lines on standard output: `open`, `owner` when it owns the database, `done MARK`, `unknown MARK`, and `conflicts COUNT` at the
// end. The command `stop` on standard input closes the database.

import { createInterface } from 'node:readline'
import { Level } from 'terrace'
import { HANG_MS, turns } from '../../../../tests/support/waiting.mjs'
import { Incrementer } from '../../../core/test/support/increments.js'

const COUNTERS = 8

const [location, name] = process.argv.slice(2)
const db = new Level(location, { shared: true, ownerTimeoutMs: HANG_MS })
const incrementer = new Incrementer(db, name, COUNTERS)
let isStopped = false

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') isStopped = true
})

await db.open()
console.log('open')
let wasOwner = false
while (!isStopped) {
  if (db.isOwner && !wasOwner) {
    wasOwner = true
    console.log('owner')
  }
  const { mark, isKnown } = await incrementer.increment()
  console.log(`${isKnown ? 'done' : 'unknown'} ${mark}`)
  // The owner's calls are much faster than those of the others, which would meet a conflict each time.
  await turns(20)
}
console.log(`conflicts ${incrementer.conflicts}`)
await db.close()
process.exit()
