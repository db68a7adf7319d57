// A process beside the test's own, on the same database.
//
//   second.js LOCATION KIND
//
// As `reader` it reads everything, again and again, and says at its end how often and how much of it was torn. For each line
// that it gets, a key, it prints the key's value. As `writer` it writes 200 rounds of its own, and increments that it asks for.

import { createInterface } from 'node:readline'
import { LmdbLevel } from 'terrace-lmdb'
import { roundIn, roundOf } from '../../../../../tests/support/back-ends/rounds.mjs'

const [location, kind] = process.argv.slice(2)
const db = new LmdbLevel(location, { readOnly: kind === 'reader', shared: true })
await db.open()
console.log('open')

if (kind === 'writer') {
  for (let round = 1; round <= 200; round++) await db.batch(roundOf(round, 'w'))
  console.log('written')
} else {
  const counts = { reads: 0, torn: 0, states: 0 }
  let last
  const timer = setInterval(async () => {
    const round = roundIn(await db.iterator({ gte: 'r', lt: 's' }).all())
    counts.reads++
    if (round === undefined) counts.torn++
    if (round !== last) counts.states++
    last = round
  }, 0)
  for await (const key of createInterface({ input: process.stdin })) console.log(db.getSync(key))
  clearInterval(timer)
  console.log(JSON.stringify(counts))
}
await db.close()
