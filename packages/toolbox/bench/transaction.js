// What a transaction costs: a get and a put of one key, µs each; the median of rounds taken in turns.
//
//   node packages/toolbox/bench/transaction.js

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { transactions } from 'terrace-toolbox/transaction'

const ROUNDS = 15
const OPERATIONS = 5000
const KEYS = 1000

const folder = mkdtempSync(join(tmpdir(), 'terrace-toolbox-bench-'))
const plain = new Level(join(folder, 'plain'))
const observed = new Level(join(folder, 'observed'))
const transaction = transactions(observed)

const keyOf = (i) => `key ${i % KEYS}`

async function getAndPut(db) {
  for (let i = 0; i < OPERATIONS; i++) {
    const value = (await db.get(keyOf(i))) ?? ''
    await db.put(keyOf(i), value)
  }
}

const cases = {
  'get and put': () => getAndPut(plain),
  'get and put, of a database that has transactions': () => getAndPut(observed),
  'transaction of get and put': async () => {
    for (let i = 0; i < OPERATIONS; i++) {
      await transaction(async (tx) => {
        const value = (await tx.get(keyOf(i))) ?? ''
        tx.put(keyOf(i), value)
      })
    }
  },
  'transaction of get': async () => {
    for (let i = 0; i < OPERATIONS; i++) await transaction((tx) => tx.get(keyOf(i)))
  },
  update: async () => {
    for (let i = 0; i < OPERATIONS; i++) await transaction.update(keyOf(i), (value) => value ?? '')
  }
}

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))

for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, run] of Object.entries(cases)) {
    const began = performance.now()
    await run()
    // The first round warms up.
    if (round > 0) times[name].push(((performance.now() - began) / OPERATIONS) * 1000)
  }
}

for (const [name, rounds] of Object.entries(times)) {
  const median = rounds.sort((a, b) => a - b)[ROUNDS >> 1]
  console.log(`${median.toFixed(1).padStart(6)} µs  ${name}`)
}

await plain.close()
await observed.close()
rmSync(folder, { recursive: true })
