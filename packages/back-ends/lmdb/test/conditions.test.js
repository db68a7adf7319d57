// Conditions of writes, beyond the tests of terrace-core: the order among other writes, and sizes. contention.test.js runs this file
// in a thread as well.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_KEY_SIZE_BYTES } from 'terrace-lmdb'
import { scaled } from '../../../../tests/support/form.mjs'
import { newLevel, openLevel } from './support/databases.js'

const conflict = { code: 'LEVEL_CONFLICT' }

test('conditional writes, batches and clears take effect in the order of the calls', async (t) => {
  const db = await openLevel(t)
  const many = Array.from({ length: 3000 }, (_, i) => ({
    type: 'put',
    key: `many ${i}`,
    value: 'x'.repeat(200)
  }))
  for (let round = 0; round < scaled(20, 3); round++) {
    const value = `${round}`
    await Promise.all([
      db.batch(many),
      db.put('a', value, { if: [{ key: 'many 2999', exists: true }] }),
      db.put('b', value, { if: [{ key: 'a', value }] }),
      db.del('many 0'),
      assert.rejects(db.put('a', 'no', { if: [{ key: 'many 0', exists: true }] }), conflict),
      db.clear({ gte: 'many' }),
      db.batch([], {
        if: [
          { key: 'many 1', exists: false },
          { key: 'b', value }
        ]
      }),
      db.put('many 1', value),
      db.put('c', value, { if: [{ key: 'many 1', value }] }),
      db.clear({ limit: 1 }),
      db.put('d', value, { if: [{ key: 'a', exists: false }] })
    ])
    assert.deepEqual(
      await db.iterator().all(),
      ['b', 'c', 'd', 'many 1'].map((key) => [key, value])
    )
  }
})

test('of conditional writes that are called at once, those whose conditions fail take no others with them', async (t) => {
  const db = await openLevel(t)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, i) =>
      db.put('turn', `${i + 1}`, {
        if: [i === 0 ? { key: 'turn', exists: false } : { key: 'turn', value: `${i}` }]
      })
    ).concat(
      Array.from({ length: 100 }, (_, i) =>
        db.put('other', `${i}`, { if: [{ key: 'other', exists: false }] })
      )
    )
  )
  assert.ok(outcomes.slice(0, 101).every(({ status }) => status === 'fulfilled'))
  assert.ok(outcomes.slice(101).every(({ reason }) => reason.code === 'LEVEL_CONFLICT'))
  assert.deepEqual(await db.getMany(['turn', 'other']), ['100', '0'])
})

test('a conditional write sees what a batch deletes, stores twice, or stores and deletes', async (t) => {
  const db = await openLevel(t)
  const first = db.batch(
    [
      { type: 'put', key: 'a', value: '1' },
      { type: 'put', key: 'a', value: '2' },
      { type: 'put', key: 'b', value: '1' },
      { type: 'del', key: 'b' },
      { type: 'del', key: 'none' }
    ],
    { if: [{ key: 'a', exists: false }] }
  )
  const second = db.del('a', {
    if: [
      { key: 'a', value: '2' },
      { key: 'b', exists: false }
    ]
  })
  await Promise.all([first, second])
  assert.deepEqual(await db.keys().all(), [])
})

test('a range is compared with its entries in the snapshot, so a change that was undone is none', async (t) => {
  const db = await openLevel(t)
  await db.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: '1' })))
  const snapshot = db.snapshot()
  const condition = { gt: 'a', lte: 'c', unchangedSince: snapshot }
  const check = (...conditions) => db.batch([], { if: conditions })

  for (const [change, undo] of [
    [() => db.put('c', '2'), () => db.put('c', '1')],
    [() => db.put('bb', '1'), () => db.del('bb')],
    [() => db.del('b'), () => db.put('b', '1')]
  ]) {
    await change()
    await assert.rejects(check(condition), conflict)
    await undo()
    await check(condition)
  }
  await db.clear()
  await assert.rejects(check(condition), conflict)
  await check({ gte: 'd', unchangedSince: snapshot }, { gte: 'c', lt: 'b', unchangedSince: snapshot })
  await snapshot.close()
})

test('a range over a whole database is compared, and sees the writes that are called before', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'buffer' })
  const count = scaled(30_000, 5000)
  const value = Buffer.alloc(50)
  await db.batch(Array.from({ length: count }, (_, i) => ({ type: 'put', key: `${i}`, value })))
  const snapshot = db.snapshot()
  const everything = { if: [{ unchangedSince: snapshot }] }
  await db.batch([], everything)
  const last = db.put(`${count - 1}`, Buffer.alloc(50, 1))
  await assert.rejects(db.put('new', value, everything), conflict)
  await last
  await snapshot.close()
})

test('values of 50 MB are compared to the last byte, in conditions on keys and on ranges', async (t) => {
  const db = await openLevel(t, { valueEncoding: 'buffer' })
  const large = Buffer.alloc(50 << 20, 7)
  const other = Buffer.from(large)
  other[other.length - 1] = 8
  await db.put('large', large)
  const snapshot = db.snapshot()
  const unchanged = { unchangedSince: snapshot }

  await db.batch([], { if: [unchanged, { key: 'large', value: large }] })
  for (const value of [other, large.subarray(1), Buffer.alloc(0)]) {
    await assert.rejects(db.put('no', large, { if: [{ key: 'large', value }] }), conflict)
  }
  // In one transaction, in which the value is not on the disk yet.
  const written = db.put('large', other, { if: [{ key: 'large', value: large }] })
  const again = db.batch([], {
    if: [unchanged, { key: 'large', value: other }, { key: 'large', value: large }]
  })
  await written
  await assert.rejects(again, { ...conflict, conditions: [0, 2] })
  await snapshot.close()
})

test('no entry has a key that is too long, so a condition on it can be checked, and a write of it is refused', async (t) => {
  const db = await openLevel(t)
  const long = 'k'.repeat(MAX_KEY_SIZE_BYTES + 1)
  const longest = long.slice(1)
  await db.put(longest, '1', { if: [{ key: long, exists: false }] })
  await db.put('a', '1', { if: [{ key: longest, value: '1' }] })
  const failing = [
    { key: long, exists: true },
    { key: long, value: '' }
  ]
  await assert.rejects(db.put('a', '2', { if: failing }), { ...conflict, conditions: [0, 1] })
  await assert.rejects(db.put(long, '1', { if: [{ key: long, exists: false }] }), {
    code: 'LEVEL_KEY_TOO_LARGE'
  })
  const snapshot = db.snapshot()
  await db.put(longest, '2')
  await db.batch([], { if: [{ gte: long, unchangedSince: snapshot }] })
  await assert.rejects(db.batch([], { if: [{ lte: long, unchangedSince: snapshot }] }), conflict)
  await snapshot.close()
})

test('a database that was opened with readOnly refuses writes with conditions', async (t) => {
  const db = await openLevel(t)
  await db.put('key', 'value')
  await db.close()
  const reader = newLevel(t, { readOnly: true }, db.location)
  await reader.open()
  const conditions = { if: [{ key: 'key', exists: true }] }
  await assert.rejects(reader.put('key', 'other', conditions), { code: 'LEVEL_READ_ONLY' })
  await assert.rejects(reader.batch([], conditions), { code: 'LEVEL_READ_ONLY' })
})

test('another instance of the thread can be opened while conditional writes are in flight', async (t) => {
  const db = await openLevel(t)
  let isOver = false
  const write = async (key) => {
    for (let i = 0; !isOver; i++) {
      const condition = i === 0 ? { key, exists: false } : { key, value: `${i - 1}` }
      await Promise.all([db.put(key, `${i}`, { if: [condition] }), db.put('other', `${i}`)])
    }
  }
  const writing = [write('a'), write('b')]
  for (let i = 0; i < scaled(30, 5); i++) {
    const second = await openLevel(t, {}, db.location)
    await second.put('second', `${i}`, { if: [{ key: 'none', exists: false }] })
    await second.close()
  }
  isOver = true
  await Promise.all(writing)
  assert.equal(await db.has('a'), true)
})

test('a close waits for conditional writes', async (t) => {
  const db = await openLevel(t)
  const writes = Array.from({ length: 10 }, (_, i) =>
    db.put(`${i}`, '', { if: [{ key: `${i}`, exists: false }] })
  )
  await db.close()
  await Promise.all(writes)
  await db.open()
  assert.equal((await db.keys().all()).length, 10)
})
