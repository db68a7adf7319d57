// Memory held during and after transactions, and after failed writes.
//
// In the full form only: it fills and measures memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { MAX_REMEMBERED_KEYS, transactions } from 'terrace-toolbox/transaction'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { memoryLeft } from '../../../../tests/support/memory-left.mjs'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { coordinatorOf } from '../../dist/transaction/coordinators.js'
import { MAX_WAIT_MS } from '../../dist/transaction/turns.js'
import { databases } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: writes are remembered while transactions that began before them are open`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const { observer } = coordinatorOf(db)
    assert.equal(
      observer !== undefined,
      db.supports.everyWrite !== false,
      'it is there if hooks see every write'
    )
    if (observer === undefined) return
    const put = async (count) => {
      for (let i = 0; i < count; i++) await db.put(`key ${i}`, '')
    }

    await put(100)
    assert.equal(observer.size, 0)

    await transaction(async (tx) => {
      await tx.get('a')
      await put(100)
      assert.equal(observer.size, 100)
    })
    assert.equal(observer.size, 0)

    // One transaction is open at any time, but none for long.
    const stop = { now: false }
    const chain = async () => {
      while (!stop.now) {
        await transaction(async (tx) => {
          await tx.get('a')
          await turns(3)
        })
      }
    }
    const chains = [chain(), turns(1).then(chain), turns(2).then(chain)]
    let most = 0
    for (let i = 0; i < 50; i++) {
      await put(200)
      await turns()
      most = Math.max(most, observer.size)
    }
    stop.now = true
    await Promise.all(chains)
    assert.ok(most < 5000, `${most} remembered`)
    assert.equal(observer.size, 0)
  })

  test(`${name}: memory does not grow with transactions that have ended`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const run = async () => {
      for (let i = 0; i < 1000; i++) {
        await transaction.update(`key ${i % 10}`, () => 'x'.repeat(1000))
        await transaction((tx) => tx.keys().all())
      }
    }
    await run()
    let { heapUsed } = await memoryLeft()
    // A leak grows with each round; compiled code and the database's internal memory do not.
    let least = Infinity
    for (let round = 0; round < 5 && least >= 1_000_000; round++) {
      await run()
      const before = heapUsed
      heapUsed = (await memoryLeft()).heapUsed
      least = Math.min(least, heapUsed - before)
    }
    assert.ok(least < 1_000_000, `${least} bytes of 1000 transactions`)
  })

  test(`${name}: a failed write disturbs no transaction once it is garbage`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const failing = async () => {
      const operations = [
        { type: 'put', key: 'a', value: '' },
        { type: 'put', key: null, value: '' }
      ]
      await assert.rejects(db.batch(operations), { code: 'LEVEL_INVALID_KEY' })
    }

    await failing()
    const clock = holdClock(t)
    let isDone = false
    const updated = transaction
      .update('a', () => 'new', { retries: Infinity })
      .finally(() => {
        isDone = true
      })
    await until(() => {
      // Internal waits of a database, such as a server's, get time.
      const shortest = Math.min(...clock.waiting)
      if (shortest <= MAX_WAIT_MS) clock.advance(shortest)
      globalThis.gc()
      return isDone
    }, 'the failed write to be forgotten')
    await updated
    assert.equal(await db.get('a'), 'new')
  })
}

test('a transaction during which too much is written conflicts, and can be tried again', async (t) => {
  const db = new MemoryLevel()
  t.after(() => db.close())
  const transaction = transactions(db)
  const half = Array.from({ length: MAX_REMEMBERED_KEYS / 2 + 1 }, () => ({ type: 'del', key: 'other' }))
  let calls = 0

  await transaction(async (tx) => {
    calls++
    await tx.get('a')
    if (calls === 1) {
      for (let i = 0; i < 3; i++) await db.batch(half)
    }
    tx.put('b', '')
  })
  assert.equal(calls, 2)
  assert.equal(coordinatorOf(db).observer.size, 0)
})
