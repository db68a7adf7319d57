// Others' writes that are still running, others' hooks and listeners, and how many attempts there are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { transactions } from 'terrace-toolbox/transaction'
import { holdClock } from '../../../../tests/support/clock.mjs'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { databases, isExact } from '../support/databases.js'
import { attempts } from './support/attempts.js'

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: a write that was called before the transaction, and is still on its way, is not lost`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)

    for (const sync of [false, true]) {
      for (let round = 0; round < 10; round++) {
        const value = `${sync} ${round}`
        const put = db.put('a', value, { sync })
        await transaction(async (tx) => tx.put('a', `${await tx.get('a')} and more`))
        await put
        assert.equal(await db.get('a'), `${value} and more`)
      }
    }
  })

  test(`${name}: write skew does not happen`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const transaction = transactions(db)

    for (let round = 0; round < 20; round++) {
      await db.batch([
        { type: 'put', key: 'ada', value: true },
        { type: 'put', key: 'grace', value: true }
      ])

      // One of them has to stay on call.
      const leave = (who) =>
        transaction(async (tx) => {
          const [ada, grace] = await tx.getMany(['ada', 'grace'])
          if (ada && grace) tx.put(who, false)
        })
      await Promise.all([leave('ada'), leave('grace')])
      assert.deepEqual((await db.getMany(['ada', 'grace'])).filter(Boolean).length, 1)
    }
  })

  test(`${name}: a write that changed nothing, or failed, is a conflict only if values cannot be compared`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    // Where others write unseen, commits are conditional writes. They may, or may not, compare values.
    const isConditional = db.supports.everyWrite === false
    const expected = isConditional ? [1, 2] : isExact(db) ? [1] : [2]
    await db.put('a', '1')

    const reads = async (tx) => [
      await tx.get('a'),
      await tx.get('none'),
      await tx.keys({ gte: 'a', lt: 'b' }).all()
    ]
    const count = async (meanwhile) =>
      assert.ok(expected.includes(await attempts(transaction, reads, meanwhile)))
    await count(() => db.put('a', '1'))
    await count(() => db.del('none'))
    await count(async () => {
      await db.put('a', '2')
      await db.put('a', '1')
    })
    assert.equal(await attempts(transaction, reads, () => db.put('none', '')), 2)

    const fail = () =>
      assert.rejects(
        db.batch([
          { type: 'del', key: 'a' },
          { type: 'del', key: null }
        ])
      )
    const failed = attempts(transaction, reads, fail, { retries: 0 })
    if (isConditional || isExact(db)) assert.equal(await failed, 1)
    else await assert.rejects(failed, { code: 'TRANSACTION_CONFLICT' })
  })

  test(`${name}: what a hook adds to a write counts as the write does`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const before = (operation, batch) => {
      if (String(operation.key).startsWith('user ')) batch.add({ ...operation, key: `by ${operation.value}` })
    }
    db.hooks.prewrite.add(before)

    const count = (key) =>
      attempts(
        transaction,
        (tx) => tx.get(key),
        () => db.put('user 1', 'ada')
      )
    assert.equal(await count('by ada'), 2)
    assert.equal(await count('user 1'), isExact(db) ? 1 : 2)
    assert.equal(await count('by grace'), 1)

    const register = (user) =>
      transaction(async (tx) => {
        if (await tx.has('by mary')) return false
        tx.put(`user ${user}`, 'mary')
        return true
      })
    const registered = await Promise.all(Array.from({ length: 20 }, (_, i) => register(i)))
    assert.equal(registered.filter(Boolean).length, 1)
  })

  test(`${name}: what only reads never conflicts`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    let calls = 0

    await transaction(
      async (tx) => {
        calls++
        await tx.get('a')
        await db.put('a', String(calls))
        assert.equal(await tx.get('a'), undefined)
      },
      { retries: 0 }
    )
    assert.equal(calls, 1)
  })

  test(`${name}: retries are bounded, and the error says so`, async (t) => {
    const db = await open(t)
    let calls = 0
    const always = (transaction, options) => {
      calls = 0
      return transaction(async (tx) => {
        await tx.get('a')
        await db.put('a', String(++calls))
        tx.put('b', '')
      }, options)
    }
    const conflict = { code: 'TRANSACTION_CONFLICT' }

    await assert.rejects(always(transactions(db)), { ...conflict, message: /tried 11 times/ })
    assert.equal(calls, 11)
    await assert.rejects(always(transactions(db, { retries: 2 })), conflict)
    assert.equal(calls, 3)
    await assert.rejects(always(transactions(db), { retries: 0 }), { ...conflict, message: /tried once/ })
    assert.equal(calls, 1)
    assert.equal(await db.get('b'), undefined)
  })

  test(`${name}: a signal ends the wait for another attempt`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const controller = new AbortController()
    let calls = 0
    // The wait after the second attempt does not end.
    holdClock(t)
    const running = transaction(
      async (tx) => {
        await tx.get('a')
        await db.put('a', String(++calls))
        tx.put('b', '')
      },
      { retries: Infinity, signal: controller.signal }
    )
    const aborted = assert.rejects(running, { code: 'LEVEL_ABORTED' })
    await until(() => calls === 2, 'two attempts')
    await turns(20)
    controller.abort()
    await aborted
    assert.equal(calls, 2)
  })

  test(`${name}: a commit that follows a close and another open is tried again`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const reopen = async () => {
      await db.close()
      await db.open()
      if (name === 'memory-level') await db.put('other', '')
    }
    assert.equal(await attempts(transaction, (tx) => tx.get('a'), reopen), 2)
  })
}

// There, the error of a listener becomes that of the write, which is done nevertheless.
for (const name of ['classic-level', 'memory-level'].filter((each) => each in databases)) {
  const open = databases[name]

  test(`${name}: a commit is seen by others also if a listener throws`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    let read
    let goOn
    const isRead = new Promise((resolve) => {
      read = resolve
    })
    const isCommitted = new Promise((resolve) => {
      goOn = resolve
    })
    const waiting = attempts(
      transaction,
      (tx) => tx.get('a').then(read),
      () => isCommitted
    )
    await isRead

    const bad = () => {
      throw new Error('bad listener')
    }
    db.on('write', bad)
    await assert.rejects(
      transaction.update('a', () => 'new'),
      { message: 'bad listener' }
    )
    db.off('write', bad)

    goOn()
    assert.equal(await waiting, 2)
    assert.equal(await db.get('a'), 'new')
  })
}

test('without explicit snapshots, what reads a mixture is called again, and its errors do not count', async (t) => {
  const db = new MemoryLevel()
  db.supports.explicitSnapshots = false
  t.after(() => db.close())
  const transaction = transactions(db)
  const both = (value) =>
    db.batch([
      { type: 'put', key: 'a', value },
      { type: 'put', key: 'b', value }
    ])
  let calls = 0
  await both('old')

  const check = async (tx) => {
    calls++
    const a = await tx.get('a')
    if (calls === 1) await both('new')
    const b = await tx.get('b')
    assert.equal(a, b)
    return a
  }
  assert.equal(await transaction(check), 'new')
  assert.equal(calls, 2)

  const error = new Error('really')
  await assert.rejects(
    transaction(async (tx) => {
      await tx.get('a')
      throw error
    }),
    (thrown) => thrown === error
  )
})
