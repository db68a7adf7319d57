// Money moves between accounts while others do the same, and one seat is sold once.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'terrace'
import { transactions } from 'terrace-toolbox/transaction'

const directory = mkdtempSync(join(tmpdir(), 'terrace-example-'))
const db = new Level(join(directory, 'db'), { valueEncoding: 'json' })
const transaction = transactions(db, { retries: 100 })

try {
  const accounts = db.sublevel('accounts', { valueEncoding: 'json' })
  const names = ['anna', 'bert', 'cleo', 'dora']
  await accounts.batch(names.map((key) => ({ type: 'put', key, value: 100 })))

  let attempts = 0
  const transfer = (from, to, amount) =>
    transaction(async (tx) => {
      attempts++
      const [ofFrom, ofTo] = await tx.getMany([from, to], { sublevel: accounts })
      if (ofFrom < amount) throw new Error(`${from} has only ${ofFrom}`)
      tx.put(from, ofFrom - amount, { sublevel: accounts })
      tx.put(to, ofTo + amount, { sublevel: accounts })
    })

  const transfers = Array.from({ length: 100 }, (_, i) =>
    transfer(names[i % 4], names[(i * 7 + 1) % 4], 1 + (i % 7))
  )
  await Promise.all(transfers)
  console.log(`100 transfers at once took ${attempts} attempts`)

  const total = await transaction(async (tx) => {
    let sum = 0
    for await (const [name, balance] of tx.iterator({ sublevel: accounts })) {
      console.log(`${name} has ${balance}`)
      sum += balance
    }
    return sum
  })
  console.log(`together ${total}`)

  await transfer('anna', 'bert', 1000).catch((error) => console.log(`nothing is written: ${error.message}`))

  const seats = db.sublevel('seats')
  const sold = await Promise.all(names.map((name) => transaction.ifAbsent('1A', name, { sublevel: seats })))
  console.log(`one has seat 1A: ${await seats.get('1A')}, of ${sold.length} who asked`)
  const visits = names.map(() => transaction.update('visits', (count = 0) => count + 1, { sync: true }))
  console.log(`visits: ${Math.max(...(await Promise.all(visits)))}`)
} finally {
  await db.close()
  rmSync(directory, { recursive: true })
}
