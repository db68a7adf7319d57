// Writes to a database until the system refuses to make a file any larger (`ulimit -f`), lifts the limit, closes the database as the
// arguments say, and uses it again. Prints what happened as JSON. The role is `alone`, `owner` of a shared database, or `guest` that has become the
// owner.

import { execFileSync } from 'node:child_process'
import { Level } from 'terrace'

const [location, way, role] = process.argv.slice(2)
const codeOf = (promise) =>
  promise.then(
    () => 'resolved',
    ({ code }) => code
  )

const options = { shared: role !== 'alone' }
const owner = role === 'guest' ? new Level(location, options) : undefined
await owner?.open()
const db = new Level(location, options)
await db.open()
await owner?.close()
while (role !== 'alone' && !db.isOwner) await new Promise((resolve) => setTimeout(resolve, 5))
await db.put('first', 'value', { sync: true })
let failed
for (let round = 0; failed === undefined; round++) {
  const operations = Array.from({ length: 50 }, (_, i) => ({
    type: 'put',
    key: `${round}:${i}`,
    value: String(Math.random()).repeat(50)
  }))
  await db.batch(operations).catch(({ code }) => {
    failed = code
  })
}
execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])

const closed = await codeOf(way === 'await using' ? db[Symbol.asyncDispose]() : db.close())
const status = db.status
const again = await codeOf(db.close())
const opened = await codeOf(db.open())
const first = await db.get('first')
const stored = await codeOf(db.put('a', 'b', { sync: true }))
const last = await codeOf(db.close())
console.log(JSON.stringify({ failed, closed, status, again, opened, first, stored, last }))
