// Random histories of transactions: each must be equivalent to running one transaction after another.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { scaled } from '../../../../tests/support/form.mjs'
import { databases } from '../support/databases.js'
import { below, dawdle, round, spacesOf } from './support/histories.js'
import { serialOrder } from './support/serial-order.js'

const ROUNDS = scaled(40)

test('the checker finds an order, and finds that there is none', () => {
  const get = (key, found) => ({ read: (state) => state.get(key), found })
  const put = (key, value) => ({ type: 'put', key, value })
  const state = (...entries) => new Map(entries)
  const events = [
    { reads: [get('a', '2')], writes: [put('b', '2')] },
    { reads: [], writes: [put('a', '2')] }
  ]
  assert.deepEqual(serialOrder(events, state(['a', '1']), state(['a', '2'], ['b', '2'])), [1, 0])
  assert.equal(serialOrder(events, state(['a', '1']), state(['a', '2'])), undefined)

  const skew = [
    { reads: [get('a', '1'), get('b', '1')], writes: [put('a', '0')] },
    { reads: [get('a', '1'), get('b', '1')], writes: [put('b', '0')] }
  ]
  assert.equal(serialOrder(skew, state(['a', '1'], ['b', '1']), state(['a', '0'], ['b', '0'])), undefined)
})

for (const [name, open] of Object.entries(databases)) {
  // classic-level does not preserve the order of concurrent writes, so plain writes are omitted there.
  const plainWrites = name === 'classic-level' ? 0 : undefined

  test(`${name}: ${ROUNDS} histories at random have a serial order`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const spaces = spacesOf(db)
    for (let i = 0; i < ROUNDS; i++) await round([{ db, spaces, transaction }], plainWrites)
  })

  test(`${name}: money moves between accounts, and is always all there`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const transaction = transactions(db, { retries: 100 })
    const accounts = db.sublevel('accounts', { valueEncoding: 'json' })
    const names = Array.from({ length: 10 }, (_, i) => `account ${i}`)
    await accounts.batch(names.map((key) => ({ type: 'put', key, value: 100 })))
    const sum = (values) => values.reduce((total, value) => total + value, 0)

    async function clerk(number) {
      for (let i = 0; i < scaled(30, 10); i++) {
        const [from, to] = [names[below(10)], names[below(10)]]
        await transaction(
          async (tx) => {
            const balance = await tx.get(from, { sublevel: accounts })
            if (balance < 10 || from === to) return
            tx.put(from, balance - 10, { sublevel: accounts })
            tx.put(to, (await tx.get(to, { sublevel: accounts })) + 10, { sublevel: accounts })
            tx.put(`receipt ${number} ${i}`, { from, to })
            assert.equal(sum(await tx.values({ sublevel: accounts }).all()), 1000)
          },
          { sync: below(8) === 0 }
        )
      }
    }

    async function auditor() {
      for (let i = 0; i < 30; i++) {
        assert.equal(sum(await transaction((tx) => tx.values({ sublevel: accounts }).all())), 1000)
        await db.put('audit', i)
        await dawdle()
      }
    }

    await Promise.all([...Array.from({ length: 16 }, (_, i) => clerk(i)), auditor()])
    assert.equal(sum(await accounts.values().all()), 1000)
  })
}
