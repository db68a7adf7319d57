// A process that shares a database. It writes entries one after the other, and tells its parent of each that is acknowledged.
//
//   node sharing-process.js LOCATION NAME
//
// Lines on standard output: `open`, `owner` when it owns the database, `done KEY`, `unknown KEY`, `failed KEY CODE`. Commands on
// standard input: `stop` closes the database, `block` keeps the event loop from turning.

import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { Level } from 'terrace'

const [location, name] = process.argv.slice(2)
const db = new Level(location, { shared: true, ownerTimeoutMs: 20_000 })
let isStopped = false

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') isStopped = true
  if (line === 'block') for (;;);
})

await db.open()
console.log('open')

let wasOwner = false
for (let n = 0; !isStopped; n++) {
  if (db.isOwner && !wasOwner) {
    wasOwner = true
    console.log('owner')
  }

  const key = `${name}-${n}`
  try {
    await db.put(key, key)
    console.log(`done ${key}`)
  } catch ({ code }) {
    console.log(code === 'NET_WRITE_UNKNOWN' ? `unknown ${key}` : `failed ${key} ${code}`)
  }
  await turn()
}

await db.close()
process.exit()
