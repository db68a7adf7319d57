// ifAbsent, ifEquals and update.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { databases } from '../support/databases.js'

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: ifAbsent writes once, also if many try at the same time`, async (t) => {
    const db = await open(t)
    const sublevel = db.sublevel('s', { valueEncoding: 'json' })
    const transaction = transactions(db)

    const tries = Array.from({ length: 20 }, (_, i) =>
      transaction.ifAbsent('a', { i }, { sublevel, sync: i % 2 === 0 })
    )
    const results = await Promise.all(tries)
    assert.equal(results.filter(Boolean).length, 1)
    assert.deepEqual(await sublevel.get('a'), { i: results.indexOf(true) })
    assert.equal(await transaction.ifAbsent('b', ''), true)
    assert.equal(await transaction.ifAbsent('b', 'x'), false)
    assert.equal(await db.get('b'), '')
  })

  test(`${name}: ifEquals compares what values are encoded to`, async (t) => {
    const db = await open(t, { valueEncoding: 'json' })
    const transaction = transactions(db)
    await db.put('a', { x: 1, y: [2] })

    assert.equal(await transaction.ifEquals('a', { y: [2], x: 1 }, 'other order'), false)
    assert.equal(await transaction.ifEquals('a', undefined, 'expected none'), false)
    assert.equal(await transaction.ifEquals('a', { x: 1, y: [2] }, { x: 2 }), true)
    assert.deepEqual(await db.get('a'), { x: 2 })
    assert.equal(await transaction.ifEquals('a', '{"x":2}', 'ö', { valueEncoding: 'utf8' }), true)
    assert.equal(
      await transaction.ifEquals('a', Buffer.from('ö'), new Uint8Array([34, 255, 34]), {
        valueEncoding: 'view'
      }),
      true
    )
    assert.deepEqual([...(await db.get('a', { valueEncoding: 'view' }))], [34, 255, 34])
    assert.equal(await transaction.ifEquals('a', '"\ufffd"', 'x', { valueEncoding: 'utf8' }), false)
    assert.equal(
      await transaction.ifEquals('a', new Uint8Array([34, 255, 34]), undefined, { valueEncoding: 'view' }),
      true
    )
    assert.equal(await db.get('a'), undefined)
    assert.equal(await transaction.ifEquals('a', undefined, 7), true)
    assert.equal(await db.get('a'), 7)
  })

  test(`${name}: only one of many that expect the same value replaces it`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    await db.put('a', 'old')
    const tries = Array.from({ length: 20 }, (_, i) => transaction.ifEquals('a', 'old', String(i)))
    const results = await Promise.all(tries)
    assert.equal(results.filter(Boolean).length, 1)
    assert.equal(await db.get('a'), String(results.indexOf(true)))
  })

  test(`${name}: update makes a new value of the old one, or none`, async (t) => {
    const db = await open(t)
    const users = db.sublevel('users', { valueEncoding: 'json' })
    const transaction = transactions(users)
    const visit = (user = { visits: 0 }) => ({ visits: user.visits + 1 })

    await Promise.all(Array.from({ length: 20 }, () => transaction.update('ada', visit)))
    assert.deepEqual(await transaction.update('ada', async (user) => visit(user)), { visits: 21 })
    assert.deepEqual(await users.get('ada'), { visits: 21 })
    assert.equal(await transaction.update('ada', () => undefined), undefined)
    assert.equal(await users.get('ada'), undefined)

    const error = new Error('no')
    const throwing = transaction.update('ada', () => {
      throw error
    })
    await assert.rejects(throwing, (thrown) => thrown === error)
  })
}
