// What a feed and a count add to a put: `node bench/packages/toolbox/feed.js [puts] [rounds]`. Puts are awaited one by one,
// with keys of 16 bytes and values of 100. Each case shows the median of the rounds.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { count, feed } from 'terrace-toolbox/feed'

const [puts = 100_000, rounds = 5] = process.argv.slice(2).map(Number)
const value = Array.from({ length: 100 }, (_, i) => String.fromCharCode(33 + ((i * 37) % 90))).join('')

const cases = {
  plain: () => {},
  'with a feed': (db) => feed(db),
  'with a feed without values': (db) => feed(db, { values: false }),
  'with a feed with old values': (db) => feed(db, { oldValues: true }),
  'with a feed of the last 10,000': (db) => feed(db, { retention: { count: 10_000 } }),
  'with a feed and a live reader': (db) => {
    drain(feed(db).read({ live: true }))
  },
  'with a count of two groups': (db) =>
    count(db, { name: 'parity', of: (key) => (key.at(-1) % 2 ? 'odd' : 'even') }).ready()
}

async function drain(changes) {
  for await (const _ of changes);
}

/** Microseconds a put. */
async function measure(prepare) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-feed-bench-'))
  const db = new Level(join(directory, 'db'))
  await db.open()
  await prepare(db)
  const began = process.hrtime.bigint()
  for (let i = 0; i < puts; i++) await db.put(`key${String((i * 7919) % puts).padStart(13, '0')}`, value)
  const took = Number(process.hrtime.bigint() - began) / 1000
  await db.close()
  rmSync(directory, { recursive: true })
  return took / puts
}

const figures = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
for (let round = 0; round < rounds; round++) {
  for (const [name, prepare] of Object.entries(cases)) figures[name].push(await measure(prepare))
}

for (const [name, [...found]] of Object.entries(figures)) {
  const median = found.sort((a, b) => a - b)[Math.floor(rounds / 2)]
  console.log(`${name.padEnd(32)} ${median.toFixed(2)} µs per put`)
}
