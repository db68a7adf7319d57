// What a transaction costs: a get and a put of one key, and an entry of a loop, µs each; the median of rounds taken interleaved.
//
//   node bench/packages/toolbox/transaction.js

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { transactions } from 'terrace-toolbox/transaction'

const ROUNDS = 15
const OPERATIONS = 5000
const KEYS = 1000
const ENTRIES = 50_000

const directory = mkdtempSync(join(tmpdir(), 'terrace-toolbox-bench-'))
const plain = new Level(join(directory, 'plain'))
const observed = new Level(join(directory, 'observed'))
const transaction = transactions(observed)

const entries = observed.sublevel('entries')
await entries.batch(
  Array.from({ length: ENTRIES }, (_, i) => {
    return { type: 'put', key: `entry ${String(i).padStart(7, '0')}`, value: 'x'.repeat(100) }
  })
)

const keyOf = (i) => `key ${i % KEYS}`

async function getAndPut(db) {
  for (let i = 0; i < OPERATIONS; i++) {
    const value = (await db.get(keyOf(i))) ?? ''
    await db.put(keyOf(i), value)
  }
}

async function visit(iterator) {
  let seen = 0
  for await (const _ of iterator) seen++
  if (seen !== ENTRIES) throw new Error(`${seen} entries`)
}

/** The cost of each of `OPERATIONS`. */
const operations = {
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

/** The cost of each of `ENTRIES`. */
const loops = {
  'an entry of `for await`': () => visit(entries.iterator()),
  'an entry of `for await` in a transaction': () =>
    transaction((tx) => visit(tx.iterator({ sublevel: entries }))),
  'an entry of `all()`': () => entries.iterator().all(),
  'an entry of `all()` in a transaction': () => transaction((tx) => tx.iterator({ sublevel: entries }).all()),
  'an entry of `for await` in a transaction, after a put': () =>
    transaction((tx) => {
      tx.put('entry 0010000', 'another', { sublevel: entries })
      return visit(tx.iterator({ sublevel: entries }))
    })
}

const cases = [
  ...Object.entries(operations).map(([name, run]) => ({ name, run, count: OPERATIONS })),
  ...Object.entries(loops).map(([name, run]) => ({ name, run, count: ENTRIES }))
]
const times = Object.fromEntries(cases.map(({ name }) => [name, []]))

for (let round = 0; round <= ROUNDS; round++) {
  for (const { name, run, count } of cases) {
    const began = performance.now()
    await run()
    // The first round warms up.
    if (round > 0) times[name].push(((performance.now() - began) / count) * 1000)
  }
}

for (const [name, rounds] of Object.entries(times)) {
  const median = rounds.sort((a, b) => a - b)[ROUNDS >> 1]
  console.log(`${median.toFixed(1).padStart(6)} µs  ${name}`)
}

await plain.close()
await observed.close()
rmSync(directory, { recursive: true })
