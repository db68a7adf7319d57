// A process that reads beside a writer, as on another machine.
//
//   reader.js LOCATION OPTIONS
//
// It reads everything, again and again, in several ways. For each line that it gets, a key, it refreshes and prints the key's value;
// for an empty one, and at its end, how often it has read and how much of it was torn.

import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { SlateLevel } from 'terrace-slatedb'
import { roundIn, roundOf } from '../../../../../tests/support/back-ends/rounds.mjs'

const [location, options] = process.argv.slice(2)
const db = new SlateLevel(location, { readOnly: true, ...JSON.parse(options) })
await db.open()
console.log('open')

const counts = { reads: 0, torn: 0, lost: 0, backwards: 0 }
const states = new Set()
const keys = roundOf(0).map(({ key }) => key)
let isReading = true
let newest = 0

/** @param since - The newest round that had been read when this read began; later reads see no less. */
function note(entries, since) {
  const round = roundIn(entries)
  counts.reads++
  if (round === undefined) counts.torn++
  states.add(round)
  if (round < since) counts.backwards++
  newest = Math.max(newest, round ?? 0)
}

const readers = [
  async () => {
    const since = newest
    note(await db.iterator({ gte: 'r', lt: 's' }).all(), since)
  },
  async () => {
    const since = newest
    note((await db.iterator({ gte: 'r', lt: 's', reverse: true }).all()).reverse(), since)
  },
  async () => {
    const since = newest
    const values = await db.getMany(keys)
    note(
      keys.map((key, i) => [key, values[i]]).filter(([, value]) => value !== undefined),
      since
    )
  },
  async () => {
    const snapshot = db.snapshot()
    const first = await db.iterator({ gte: 'r', lt: 's', snapshot }).all()
    // Meanwhile the database is refreshed.
    await new Promise((resolve) => setTimeout(resolve, 300))
    const iterator = db.iterator({ gte: 'r', lt: 's', snapshot })
    iterator.seek('r010')
    const rest = []
    for (let entry = await iterator.next(); entry !== undefined; entry = await iterator.next())
      rest.push(entry)
    iterator.seek('r000')
    assert.deepEqual(await iterator.next(), first[0])
    await iterator.close()
    note([...first.filter(([key]) => key < 'r010'), ...rest], 0)
    await snapshot.close()
  }
]
const reading = readers.map(async (read) => {
  while (isReading) {
    await read().catch((error) => {
      if (error.code !== 'LEVEL_SNAPSHOT_LOST') throw error
      counts.lost++
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})

const told = () => JSON.stringify({ ...counts, states: states.size })
for await (const key of createInterface({ input: process.stdin })) {
  if (key === '') console.log(told())
  else {
    await db.refresh()
    console.log(await db.get(key))
  }
}
isReading = false
await Promise.all(reading)
console.log(told())
await db.close()
