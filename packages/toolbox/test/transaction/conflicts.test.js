// What counts as a conflict, and what does not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'memory-level'
import { transactions } from 'terrace-toolbox/transaction'
import { databases } from '../support/databases.js'

/** Runs a transaction; during its first attempt, after its reads, `meanwhile` happens. Returns how often it was called. */
async function attempts(transaction, reads, meanwhile, options) {
  let calls = 0

  await transaction(async (tx) => {
    calls++
    await reads(tx)
    if (calls === 1) await meanwhile()
    tx.put('result', String(calls))
  }, options)
  return calls
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: a read key that others write, create or delete is a conflict; another key is none`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const sublevel = db.sublevel('s')
    await db.put('a', '1')
    const count = (reads, meanwhile) => attempts(transaction, reads, meanwhile)

    assert.equal(
      await count(
        (tx) => tx.get('a'),
        () => db.put('a', '2')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.get('new'),
        () => db.put('new', '1')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.has('a'),
        () => db.del('a')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.getMany(['x', 'y']),
        () => db.batch([{ type: 'put', key: 'y', value: '' }])
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.get('c'),
        () => db.batch().put('c', '').write()
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.get('k', { sublevel }),
        () => sublevel.put('k', '1')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.get('l', { sublevel }),
        () => db.put('!s!l', '1')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.get('m', { sublevel }),
        () => db.batch([{ type: 'put', key: 'm', value: '', sublevel }])
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.get('ö'),
        () => db.put(Buffer.from('ö'), '', { keyEncoding: 'buffer' })
      ),
      2
    )

    assert.equal(
      await count(
        (tx) => tx.get('a'),
        () => db.put('b', '1')
      ),
      1
    )
    assert.equal(
      await count(
        (tx) => tx.get('a'),
        () => sublevel.put('a', '1')
      ),
      1
    )
    assert.equal(
      await count(
        () => {},
        () => db.put('result', 'other')
      ),
      1
    )
  })

  test(`${name}: ranges conflict as far as they were read, phantoms included`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const sublevel = db.sublevel('s')
    const fill = () =>
      db.batch([
        ...['b', 'd', 'f', 'h'].map((key) => ({ type: 'put', key, value: '' })),
        ...['b', 'd'].map((key) => ({ type: 'put', key, value: '', sublevel }))
      ])
    const count = async (reads, meanwhile) => {
      await db.clear()
      await fill()
      return attempts(transaction, reads, meanwhile)
    }
    const first = (options) => async (tx) => {
      for await (const _ of tx.keys(options)) break
    }

    assert.equal(
      await count(
        (tx) => tx.keys({ gte: 'c', lt: 'g' }).all(),
        () => db.put('e', '')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gte: 'c', lt: 'g' }).all(),
        () => db.del('f')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gte: 'c', lt: 'g' }).all(),
        () => db.put('g', '')
      ),
      1
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gt: 'c', lte: 'g' }).all(),
        () => db.put('g', '')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gt: 'c', lte: 'g' }).all(),
        () => db.put('c', '')
      ),
      1
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gt: 'x' }).all(),
        () => db.put('y', '')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gte: 'a', limit: 2 }).all(),
        () => db.put('c', '')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ gt: 'a', limit: 2 }).all(),
        () => db.put('e', '')
      ),
      1
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ limit: 2, reverse: true }).all(),
        () => db.put('g', '')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ limit: 2, reverse: true }).all(),
        () => db.put('e', '')
      ),
      1
    )
    assert.equal(await count(first({ gt: 'a' }), () => db.put('aa', '')), 2)
    assert.equal(await count(first({ gt: 'a' }), () => db.put('c', '')), 1)
    assert.equal(
      await count(
        (tx) => tx.keys({ sublevel }).all(),
        () => sublevel.put('\xff', '')
      ),
      2
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ sublevel }).all(),
        () => db.put('c', '')
      ),
      1
    )
    assert.equal(
      await count(
        (tx) => tx.keys({ limit: 0 }).all(),
        () => db.put('c', '')
      ),
      1
    )
  })

  test(`${name}: own writes end what was read of a range`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const count = (key) =>
      attempts(
        transaction,
        async (tx) => {
          tx.put('m', 'own')
          for await (const found of tx.keys({ gte: 'a', lt: 'y' })) if (found === 'm') break
        },
        () => db.put(key, '')
      )

    assert.equal(await count('n'), 1)
    assert.equal(await count('l'), 2)
  })

  test(`${name}: clear() is a conflict`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const sublevel = db.sublevel('s')
    const fill = () =>
      db.batch([
        { type: 'put', key: 'a', value: '' },
        { type: 'put', key: 'a', value: '', sublevel }
      ])

    await fill()
    assert.equal(
      await attempts(
        transaction,
        (tx) => tx.get('a'),
        () => db.clear()
      ),
      2
    )
    await fill()
    assert.equal(
      await attempts(
        transaction,
        (tx) => tx.get('a', { sublevel }),
        () => sublevel.clear()
      ),
      2
    )
    await fill()
    assert.equal(
      await attempts(
        transaction,
        (tx) => tx.keys({ sublevel }).all(),
        () => sublevel.clear({ lte: 'a' })
      ),
      2
    )
    await fill()
    assert.equal(
      await attempts(
        transaction,
        (tx) => tx.get('a'),
        () => sublevel.clear()
      ),
      1
    )
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

  test(`${name}: a write that changed nothing, or failed, is a conflict only where values cannot be compared`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const comparesValues = db.supports.additionalMethods.putSync === true
    await db.put('a', '1')

    const reads = async (tx) => [
      await tx.get('a'),
      await tx.get('none'),
      await tx.keys({ gte: 'a', lt: 'b' }).all()
    ]
    assert.equal(await attempts(transaction, reads, () => db.put('a', '1')), comparesValues ? 1 : 2)
    assert.equal(await attempts(transaction, reads, () => db.del('none')), comparesValues ? 1 : 2)
    const back = async () => {
      await db.put('a', '2')
      await db.put('a', '1')
    }
    assert.equal(await attempts(transaction, reads, back), comparesValues ? 1 : 2)
    assert.equal(await attempts(transaction, reads, () => db.put('none', '')), 2)

    const fail = () =>
      assert.rejects(
        db.batch([
          { type: 'del', key: 'a' },
          { type: 'del', key: null }
        ])
      )
    const failed = attempts(transaction, reads, fail, { retries: 0 })
    if (comparesValues) assert.equal(await failed, 1)
    else await assert.rejects(failed, { code: 'TRANSACTION_CONFLICT' })
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
    const running = transaction(
      async (tx) => {
        await tx.get('a')
        await db.put('a', String(Math.random()))
        tx.put('b', '')
      },
      { retries: Infinity, signal: AbortSignal.timeout(50) }
    )
    await assert.rejects(running, { code: 'LEVEL_ABORTED' })
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
