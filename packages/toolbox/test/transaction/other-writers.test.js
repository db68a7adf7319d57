// Databases that others write to as well: transactions of all of them together are serialisable.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Level } from 'terrace'
import { transactions } from 'terrace-toolbox/transaction'
import { scaled } from '../../../../tests/support/form.mjs'
import { directory } from '../support/databases.js'
import { attempts } from './support/attempts.js'
import { round, spacesOf } from './support/histories.js'

/** Options with which a database may be opened several times. With `shared`, the first instance serves the others over a socket. */
const ways = { multithreading: { multithreading: true }, shared: { shared: true } }

/** Opens instances of one database. They are closed before its directory is removed. */
async function openInstances(t, options, count = 2) {
  const opened = []
  t.after(async () => {
    for (const db of opened.reverse()) await db.close()
  })
  const location = directory(t)
  for (let i = 0; i < count; i++) {
    opened.push(new Level(location, options))
    await opened[i].open()
  }
  return opened
}

for (const [name, way] of Object.entries(ways)) {
  test(`${name}: what another instance writes to a key or a range that was read is a conflict`, async (t) => {
    const [db, other] = await openInstances(t, way)
    const transaction = transactions(db)
    const part = db.sublevel('part')
    await other.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: '1' })))
    const conflicts = {
      'a key': [2, (tx) => tx.get('a'), (other) => other.put('a', '2')],
      'a key that is deleted': [2, (tx) => tx.has('b'), (other) => other.del('b')],
      'a key that was not there': [2, (tx) => tx.get('new'), (other) => other.put('new', '1')],
      'another key': [1, (tx) => tx.get('a'), (other) => other.put('c', '2')],
      'a key of a sublevel': [
        2,
        (tx) => tx.get('a', { sublevel: part }),
        (other) => other.put('!part!a', '1')
      ],
      'a range': [2, (tx) => tx.keys({ gte: 'a', lt: 'd' }).all(), (other) => other.put('aa', '1')],
      'the key at the end of a range': [
        1,
        (tx) => tx.keys({ gte: 'a', lt: 'd' }).all(),
        (other) => other.put('d', '2')
      ],
      'behind the limit of a range': [
        1,
        (tx) => tx.keys({ gte: 'a', limit: 2 }).all(),
        (other) => other.put('c', '3')
      ],
      'within the limit of a range': [
        2,
        (tx) => tx.keys({ gte: 'a', limit: 2 }).all(),
        (other) => other.del('a')
      ],
      'a whole sublevel': [2, (tx) => tx.values({ sublevel: part }).all(), (other) => other.del('!part!a')]
    }
    for (const [what, [expected, reads, meanwhile]] of Object.entries(conflicts)) {
      assert.equal(await attempts(transaction, reads, () => meanwhile(other)), expected, what)
    }
  })

  test(`${name}: a transaction that only reads does not conflict with another instance, and sees one state`, async (t) => {
    const [db, other] = await openInstances(t, way)
    const transaction = transactions(db)
    await db.put('a', '1')
    const seen = await transaction(async (tx) => {
      const first = await tx.get('a')
      await other.batch(['a', 'b'].map((key) => ({ type: 'put', key, value: '2' })))
      return [first, await tx.get('a'), await tx.keys().all()]
    })
    assert.deepEqual(seen, ['1', '1', ['a']])
  })

  test(`${name}: a transaction gives up if another instance keeps changing what it reads`, async (t) => {
    const [db, other] = await openInstances(t, way)
    let calls = 0
    const meddled = transactions(db)(
      async (tx) => {
        await tx.get('a')
        await other.put('a', String(++calls))
        tx.put('b', 'mine')
      },
      { retries: 3 }
    )
    await assert.rejects(meddled, { code: 'TRANSACTION_CONFLICT', message: /4 times/ })
    assert.equal(calls, 4)
    assert.equal(await db.get('b'), undefined)
  })

  test(`${name}: increments of instances are not lost, with hooks on one of them`, async (t) => {
    const instances = await openInstances(t, { ...way, valueEncoding: 'json' }, 3)
    instances[0].hooks.prewrite.add(() => {})
    const count = scaled(60)
    await Promise.all(
      instances.flatMap((db) => {
        const transaction = transactions(db, { retries: 1000 })
        return Array.from({ length: count }, () =>
          transaction.update('counter', async (number = 0) => number + 1)
        )
      })
    )
    assert.equal(await instances[0].get('counter'), 3 * count)
  })

  test(`${name}: ${scaled(40)} histories at random of three instances have a serial order`, async (t) => {
    const dbs = await openInstances(t, way, 3)
    const instances = dbs.map((db) => ({ db, spaces: spacesOf(db), transaction: transactions(db) }))
    for (let i = 0; i < scaled(40); i++) await round(instances)
  })
}
