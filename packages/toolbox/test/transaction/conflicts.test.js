// What counts as a conflict, and what does not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { databases } from '../support/databases.js'
import { attempts } from './support/attempts.js'

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
}
