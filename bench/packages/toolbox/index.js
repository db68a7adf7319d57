// What an index costs: microseconds a put, the best of rounds that alternate. `node bench/index.js`

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { index } from 'terrace-toolbox/index'

const RECORDS = 20_000
const ROUNDS = 9
const value = (i, email) => ({
  name: `User number ${i}`,
  email: `user${email}@example.org`,
  address: { street: `Street ${i}`, city: `City ${email % 500}`, country: 'CH' },
  active: true,
  visits: i
})

const byEmail = { name: 'email', on: 'email' }
const databases = {
  'no index': [],
  'one index, of a path': [byEmail],
  'one index, of a function': [{ name: 'email', on: (user) => user.email.toLowerCase() }],
  'one index, unique': [{ ...byEmail, unique: true }],
  'three indexes': [byEmail, { name: 'city', on: 'address.city' }, { name: 'visits', on: 'visits' }]
}
/** The puts: for each record, the number in its e-mail address. */
const workloads = {
  'new records': (i) => i,
  'the same indexed value': (i) => i,
  'another indexed value': (i) => i + RECORDS
}

/** One database: each workload once, in µs per put. */
async function round(options) {
  const directory = mkdtempSync(join(tmpdir(), 'terrace-index-bench-'))
  const db = new Level(join(directory, 'db'), { valueEncoding: 'json' })
  try {
    for (const option of options) await index(db, option).ready
    const times = []
    for (const emailOf of Object.values(workloads)) {
      const begin = process.hrtime.bigint()
      for (let i = 0; i < RECORDS; i++) await db.put(`user${(i * 7919) % RECORDS}`, value(i, emailOf(i)))
      times.push(Number(process.hrtime.bigint() - begin) / 1000 / RECORDS)
    }
    return times
  } finally {
    await db.close()
    rmSync(directory, { recursive: true })
  }
}

const results = new Map(Object.keys(databases).map((name) => [name, []]))
for (let i = 0; i <= ROUNDS; i++) {
  for (const [name, options] of Object.entries(databases)) {
    const times = await round(options)
    // The first round warms up.
    if (i > 0) results.get(name).push(times)
  }
}

const width = Math.max(...Object.keys(databases).map(({ length }) => length))
console.log(`µs per put   | ${Object.keys(workloads).join(' | ')}`)
for (const [name, rounds] of results) {
  const best = Object.keys(workloads).map((_, column) => {
    const times = rounds.map((times) => times[column])
    return Math.min(...times).toFixed(2)
  })
  console.log(`${name.padEnd(width)} | ${best.join(' | ')}`)
}
