// A process beside the test's own, on the same database.
//
//   second.js LOCATION KIND
//
// A `reader` reads everything repeatedly. For each input line with a key, it prints the key's value; for an empty line, and at its
// end, it prints how often it has read and how many of the reads were torn. A `writer` writes its rounds until it gets a line, and
// prints their number. An `idle` or `idle-reader` process does nothing until its input ends.

import { createInterface } from 'node:readline'
import { LmdbLevel } from 'terrace-lmdb'
import { roundIn, roundOf } from '../../../../../tests/support/back-ends/rounds.mjs'

const [location, kind] = process.argv.slice(2)
const db = new LmdbLevel(location, { readOnly: kind.endsWith('reader'), shared: true })
await db.open()
console.log('open')

if (kind.startsWith('idle')) {
  for await (const _ of process.stdin);
} else if (kind === 'writer') {
  let isOver = false
  process.stdin.once('data', () => {
    isOver = true
  })
  let round = 0
  while (!isOver) await db.batch(roundOf(++round, 'w'))
  process.stdin.destroy()
  console.log(round)
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
  for await (const key of createInterface({ input: process.stdin })) {
    console.log(key === '' ? JSON.stringify(counts) : db.getSync(key))
  }
  clearInterval(timer)
  console.log(JSON.stringify(counts))
}
await db.close()
