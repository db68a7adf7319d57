// What a transaction reads, writes, and refuses.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytewise } from 'terrace-bytewise'
import { transactions } from 'terrace-toolbox/transaction'
import { databases } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: writes take effect when the transaction has ended, and not before`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)

    const result = await transaction(async (tx) => {
      tx.put('a', '1')
      tx.put('b', '2')
      tx.del('b')
      assert.equal(await db.get('a'), undefined)
      assert.equal(await tx.get('a'), '1')
      assert.equal(await tx.get('b'), undefined)
      assert.equal(await tx.has('a'), true)
      assert.equal(await tx.has('b'), false)
      assert.deepEqual(await tx.getMany(['b', 'a', 'c']), [undefined, '1', undefined])
      return 'done'
    })

    assert.equal(result, 'done')
    assert.deepEqual(await db.iterator().all(), [['a', '1']])
  })

  test(`${name}: one batch commits, in the order of the calls, the last write of each key`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const batches = []
    db.on('write', (operations) => batches.push(operations.map(({ type, key }) => `${type} ${key}`)))

    await transaction((tx) => {
      tx.put('b', '1')
      tx.put('a', '1')
      tx.del('c')
      tx.put('b', '2')
    })
    assert.deepEqual(batches, [['put a', 'del c', 'put b']])
  })

  test(`${name}: a transaction that throws writes nothing, and its error comes out`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const error = new Error('no')

    await assert.rejects(
      transaction(async (tx) => {
        tx.put('a', '1')
        await tx.get('b')
        throw error
      }),
      (thrown) => thrown === error
    )
    assert.equal(await db.get('a'), undefined)
  })

  test(`${name}: reads are of one state, that of the first read`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    await db.batch([
      { type: 'put', key: 'a', value: 'old' },
      { type: 'put', key: 'b', value: 'old' }
    ])

    const seen = await transaction(async (tx) => {
      const a = await tx.get('a')
      await db.put('b', 'new')
      return [a, await tx.get('b'), await tx.has('c'), await tx.values().all()]
    })
    assert.deepEqual(seen, ['old', 'old', false, ['old', 'old']])
  })

  test(`${name}: sublevels and encodings, mixed in one transaction`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const deep = users.sublevel(['by', 'mail'], { keyEncoding: bytewise, valueEncoding: 'view' })
    const bytes = new Uint8Array([0, 255, 128])

    await transaction(async (tx) => {
      tx.put('ada', { age: 36 }, { sublevel: users })
      tx.put(['ada', 1], bytes, { sublevel: deep })
      tx.put(bytes, Buffer.from('ö'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
      assert.deepEqual(await tx.get('ada', { sublevel: users }), { age: 36 })
      assert.deepEqual(new Uint8Array(await tx.get(['ada', 1], { sublevel: deep })), bytes)
      assert.equal(await tx.get(bytes, { keyEncoding: 'view' }), 'ö')
      assert.equal(await tx.get('!users!ada'), '{"age":36}')
      assert.deepEqual(await tx.keys({ sublevel: deep }).all(), [['ada', 1]])
    })

    assert.deepEqual(await users.get('ada'), { age: 36 })
    assert.deepEqual(new Uint8Array(await deep.get(['ada', 1])), bytes)
    assert.equal(await db.get(bytes, { keyEncoding: 'view' }), 'ö')

    await transaction(async (tx) => {
      assert.deepEqual(await tx.get('ada', { sublevel: users }), { age: 36 })
      assert.deepEqual(await tx.keys({ sublevel: deep }).all(), [['ada', 1]])
      assert.equal(await tx.get(bytes, { keyEncoding: 'view', valueEncoding: 'utf8' }), 'ö')
    })
  })

  test(`${name}: transactions of a sublevel are about its keys, and about the same database`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users')
    const transaction = transactions(users)

    await transaction(async (tx) => {
      tx.put('a', '1')
      tx.put('a', '2', { sublevel: db })
    })
    assert.equal(await users.get('a'), '1')
    assert.equal(await db.get('a'), '2')
  })

  test(`${name}: options of writes go with the operations, for hooks`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const seen = []
    users.hooks.prewrite.add((operation, batch) => {
      seen.push([operation.type, operation.key, operation.value, operation.ttlMs])
      batch.add({ type: 'put', key: operation.key, value: 'by a hook', sublevel: db, valueEncoding: 'utf8' })
    })

    await transactions(db)((tx) => tx.put('ada', { age: 36 }, { sublevel: users, ttlMs: 7 }))
    assert.deepEqual(seen, [['put', 'ada', { age: 36 }, 7]])
    assert.equal(await db.get('ada'), 'by a hook')
  })

  test(`${name}: a hook that throws refuses the whole transaction`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const error = new Error('not this')
    db.hooks.prewrite.add((operation) => {
      if (operation.key === 'b') throw error
    })

    let calls = 0
    const running = transaction(async (tx) => {
      calls++
      await tx.get('a')
      tx.put('a', '1')
      tx.put('b', '1')
    })
    await assert.rejects(running, { code: 'LEVEL_HOOK_ERROR', cause: error })
    assert.equal(calls, 1)
    assert.equal(await db.get('a'), undefined)
    assert.equal(await transaction.update('a', () => 'after'), 'after')
  })

  test(`${name}: a transaction cannot be used after its end`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    let kept
    let iterator

    await transaction(async (tx) => {
      kept = tx
      tx.put('a', '1')
      iterator = tx.iterator()
    })

    const ended = { code: 'TRANSACTION_ENDED' }
    await assert.rejects(kept.get('a'), ended)
    await assert.rejects(kept.getMany(['a']), ended)
    await assert.rejects(kept.has('a'), ended)
    await assert.rejects(iterator.next(), ended)
    assert.throws(() => kept.put('a', '2'), ended)
    assert.throws(() => kept.del('a'), ended)
    assert.throws(() => kept.iterator(), ended)
    assert.equal(await db.get('a'), '1')
  })

  test(`${name}: a transaction within a transaction is an error; beside and after it, it is not`, async (t) => {
    const db = await open(t)
    const other = await open(t)
    const transaction = transactions(db)
    const nested = { code: 'TRANSACTION_NESTED' }
    let later
    let end
    const ended = new Promise((resolve) => {
      end = resolve
    })

    await transaction(async (tx) => {
      tx.put('a', '1')
      await assert.rejects(
        transaction(() => {}),
        nested
      )
      await assert.rejects(transactions(db.sublevel('s')).ifAbsent('a', '1'), nested)
      await transactions(other)((tx) => tx.put('a', '1'))
      later = ended.then(() => transaction((tx) => tx.get('a')))
    })
    end()
    assert.equal(await later, '1')
    assert.equal(await other.get('a'), '1')
  })

  test(`${name}: a signal ends a transaction before it is committed`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const controller = new AbortController()
    const reason = new Error('enough')
    const aborted = { code: 'LEVEL_ABORTED', name: 'AbortError', cause: reason }

    const running = transaction(
      async (tx) => {
        tx.put('a', '1')
        controller.abort(reason)
      },
      { signal: controller.signal }
    )
    await assert.rejects(running, aborted)
    await assert.rejects(
      transaction(() => assert.fail('called'), { signal: controller.signal }),
      aborted
    )
    assert.equal(await db.get('a'), undefined)
  })

  test(`${name}: wrong arguments are errors with a code`, async (t) => {
    const db = await open(t)
    const other = await open(t)
    const transaction = transactions(db)
    const invalid = { name: 'TypeError', code: 'TRANSACTION_INVALID_ARGUMENT' }

    assert.throws(() => transactions({}), invalid)
    assert.throws(() => transactions(db, { retries: -1 }), invalid)
    assert.throws(() => transactions(db, { sync: 'yes' }), invalid)
    await assert.rejects(transaction(), invalid)
    await assert.rejects(
      transaction(() => {}, { retries: 1.5 }),
      invalid
    )
    await assert.rejects(
      transaction(() => {}, { signal: {} }),
      invalid
    )
    await assert.rejects(
      transaction((tx) => tx.get('a', { sublevel: other.sublevel('x') })),
      invalid
    )
    await assert.rejects(
      transaction((tx) => tx.getMany('a')),
      invalid
    )
    await assert.rejects(
      transaction((tx) => tx.get(null)),
      { code: 'LEVEL_INVALID_KEY' }
    )
    await assert.rejects(
      transaction((tx) => tx.put('a', undefined)),
      { code: 'LEVEL_INVALID_VALUE' }
    )
    await assert.rejects(
      transaction((tx) => {
        tx.put('a', 'not JSON')
        return tx.get('a', { valueEncoding: 'json' })
      }),
      { code: 'LEVEL_DECODE_ERROR' }
    )
  })

  test(`${name}: a database that is still opening is waited for, one that is closed is an error`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    await db.close()
    await assert.rejects(
      transaction((tx) => tx.get('a')),
      { code: 'LEVEL_DATABASE_NOT_OPEN' }
    )
    await assert.rejects(
      transaction((tx) => tx.put('a', '1')),
      { code: 'LEVEL_DATABASE_NOT_OPEN' }
    )

    const opening = db.open()
    await transaction(async (tx) => {
      assert.equal(await tx.get('a'), undefined)
      tx.put('a', '1')
    })
    await opening
    assert.equal(await db.get('a'), '1')
  })
}
