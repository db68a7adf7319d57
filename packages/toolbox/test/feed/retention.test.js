// What a feed retains, and what readers of removed changes get.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feed } from 'terrace-toolbox/feed'
import { scaled } from '../../../../tests/support/form.mjs'
import { turns, until } from '../../../../tests/support/waiting.mjs'
import { all } from '../support/collect.js'
import { databases } from '../support/databases.js'
import { next } from './support.js'

async function put(db, from, to, value = '') {
  for (let number = from; number <= to; number++) await db.put(`${number}`, value)
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: by count, in the background; resuming from before names the oldest`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { retention: { count: 50 } })
    await put(db, 1, 400)
    await until(async () => (await changes.oldestSequence()) > 200)
    await changes.trim()
    assert.equal(await changes.oldestSequence(), 351)
    await put(db, 1, 3)
    assert.equal(await changes.trim(), 3)
    assert.equal(await changes.trim(), 0)

    const found = await all(changes.read())
    assert.deepEqual(
      found.map(({ sequence }) => sequence),
      Array.from({ length: 50 }, (_, index) => 354 + index)
    )
    assert.equal((await next(changes.read({ after: 353 }))).sequence, 354)
    for (const after of [0, 352]) {
      await assert.rejects(all(changes.read({ after })), (error) => {
        assert.equal(error.code, 'FEED_TRIMMED')
        assert.equal(error.oldestSequence, 354)
        assert.match(error.message, /oldest sequence number retained is 354/)
        return true
      })
    }
  })

  test(`${name}: batches are removed whole`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { retention: { count: 10 } })
    const size = scaled(2500, 1200)
    const batch = Array.from({ length: size }, (_, i) => ({ type: 'put', key: `${i}`, value: '' }))
    await db.batch(batch)
    await put(db, 1, 5)
    await changes.trim()
    assert.equal(await changes.oldestSequence(), 1)
    assert.equal((await all(changes.read({ after: 0 }))).length, size + 5)

    await put(db, 6, 10)
    await changes.trim()
    assert.equal(await changes.oldestSequence(), size + 1)
    assert.equal((await all(changes.read())).length, 10)
    // Nothing of what was removed is left in the database.
    const stored = await db.keys({ gte: '!feed.changes!', lt: '!feed.changes"' }).all()
    assert.equal(stored.length, 11)
  })

  test(`${name}: by size`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { retention: { sizeBytes: 100_000 } })
    await put(db, 1, 300, 'x'.repeat(1000))
    await until(async () => (await changes.oldestSequence()) > 1)
    await changes.trim()
    const { length } = await all(changes.read())
    assert.ok(length > 85 && length < 100, `${length} changes of about 1030 bytes`)
  })

  test(`${name}: by age, until none is left, and numbers are not given twice`, async (t) => {
    const db = await open(t)
    const sub = db.sublevel('sub')
    const changes = feed(sub, { retention: { ageMs: 60 } })
    await put(sub, 1, 20)
    await until(async () => (await changes.oldestSequence()) === 21)
    assert.deepEqual(await all(changes.read()), [])
    assert.equal(await changes.lastSequence(), 20)

    // A removal is known before it is stored.
    await changes.trim()
    await db.close()
    await db.open()
    await sub.open()
    assert.equal(await changes.lastSequence(), 20)
    assert.equal(await changes.oldestSequence(), 21)
    await assert.rejects(all(changes.read({ after: 19 })), { code: 'FEED_TRIMMED', oldestSequence: 21 })
    await sub.put('next', '')
    assert.equal(await changes.lastSequence(), 21)
    await changes.close()

    // This one keeps its changes, however long it takes to read them.
    const again = feed(sub)
    await sub.put('last', '')
    assert.equal((await next(again.read({ after: 21 }))).sequence, 22)
    assert.equal(await again.lastSequence(), 22)
  })

  test(`${name}: a reader that is overtaken by the removal gets an error`, async (t) => {
    const db = await open(t)
    // More than a reader takes at a time.
    const count = scaled(1000, 400)
    const changes = feed(db, { retention: { count } })
    await put(db, 1, count)
    const slow = changes.read()
    const first = (await next(slow)).sequence
    await put(db, 1, count)
    await changes.trim()
    const read = [first]
    await assert.rejects(
      async () => {
        for await (const { sequence } of slow) read.push(sequence)
      },
      { code: 'FEED_TRIMMED', oldestSequence: count + 1 }
    )
    assert.deepEqual(
      read,
      read.map((_, index) => first + index)
    )
  })

  test(`${name}: what an interrupted removal has left is removed by the next one`, async (t) => {
    const db = await open(t)
    const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
    const range = { gte: Buffer.from('!feed.changes!'), lt: Buffer.from('!feed.changes"'), ...bytes }
    // Nothing is removed in the background before all of it was read.
    const keeping = feed(db)
    await db.batch(Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: `${i}`, value: '' })))
    await put(db, 1, 10)
    await keeping.close()
    const before = await db.iterator(range).all()
    const changes = feed(db, { retention: { count: 10 } })
    await changes.trim()
    await changes.close()
    const hex = async () => (await db.keys(range).all()).map((key) => Buffer.from(key).toString('hex'))
    const kept = await hex()
    const removed = before.filter(([key]) => !kept.includes(Buffer.from(key).toString('hex')))
    assert.equal(removed.length, 3000)

    // As if the process had ended after a thousand.
    await db.batch(
      removed.slice(1000).map(([key, value]) => ({ type: 'put', key, value })),
      bytes
    )
    const again = feed(db, { retention: { count: 10 } })
    assert.equal(await again.oldestSequence(), 3001)
    assert.equal(await again.trim(), 2000)
    assert.deepEqual(await hex(), kept)
    assert.equal(await again.trim(), 0)
  })

  test(`${name}: closing while changes are removed leaves a feed that is whole`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { retention: { count: 10 } })
    const count = scaled(6000, 2500)
    await db.batch(Array.from({ length: count }, (_, i) => ({ type: 'put', key: `${i}`, value: '' })))
    await put(db, 1, 10)
    const trimming = changes.trim().catch(() => 0)
    await turns(2)
    await db.close()
    await trimming
    await db.open()

    const oldest = await changes.oldestSequence()
    const [first] = await all(changes.read({ limit: 1 }))
    assert.ok(oldest === 1 || oldest === count + 1, `${oldest}`)
    assert.equal(first.sequence, oldest)
    await changes.trim()
    assert.equal((await all(changes.read({ after: count }))).length, 10)
    assert.equal((await db.keys({ gte: '!feed.changes!', lt: '!feed.changes"' }).all()).length, 11)
  })

  test(`${name}: a clock that goes back keeps changes longer, one that goes on removes them`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { retention: { ageMs: 60_000 } })
    let now = 1_000_000_000
    t.mock.method(Date, 'now', () => now)
    await put(db, 1, 3)
    now -= 900_000_000
    await put(db, 4, 6)
    assert.equal(await changes.trim(), 0)
    now += 900_060_001
    assert.equal(await changes.trim(), 6)
    now = -5
    await put(db, 7, 7)
    assert.equal((await next(changes.read({ after: 6 }))).time, 0)
  })

  test(`${name}: a damaged change is an error with a code, not another change`, async (t) => {
    const db = await open(t)
    const changes = feed(db)
    await put(db, 1, 5)
    const [key, value] = await db
      .iterator({ gte: '!feed.changes!', limit: 1, keyEncoding: 'buffer', valueEncoding: 'buffer' })
      .next()
    for (const length of [0, 1, 13, 14]) {
      await db.put(key, value.subarray(0, length), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
      await assert.rejects(all(changes.read()), { code: 'FEED_DAMAGED' })
    }
    assert.equal((await all(changes.read({ after: 1 }))).length, 4)
  })
}

// A writer that leaves no turn: if the database allows it, each of its awaits settles at once.
for (const [name, open] of Object.entries(databases)) {
  const kinds = {
    count: { retention: { count: 500 }, most: 1500 },
    size: { retention: { sizeBytes: 50_000 }, most: 4000 }
  }

  for (const [kind, { retention, most }] of Object.entries(kinds)) {
    test(`${name}: retention by ${kind} keeps up with a writer that does not pause`, async (t) => {
      const db = await open(t)
      const isSlow = name === 'classic-level' || !db.supports.getSync
      const changes = isSlow ? scaled(6000, most + 1000) : scaled(40_000, most + 2000)
      const kept = feed(db, { retention })
      await kept.oldestSequence()
      let held = 0
      for (let i = 1; i <= changes; i++) {
        await db.put(`${i % 1000}`, 'value')
        if (i % 500 === 0) held = Math.max(held, i - (await kept.oldestSequence()) + 1)
      }
      assert.ok(held <= most, `${held} of ${changes} were kept`)
      await kept.trim()
      const stored = await db.keys({ gte: '!feed.changes!c', lt: '!feed.changes!d' }).all()
      assert.ok(stored.length <= most, `${stored.length} are stored`)
      assert.deepEqual(
        (await all(kept.read())).map(({ sequence }) => sequence),
        Array.from({ length: stored.length }, (_, i) => changes - stored.length + 1 + i)
      )
    })
  }

  test(`${name}: batches at random are removed whole, also by a writer that does not pause`, async (t) => {
    const db = await open(t)
    const kept = feed(db, { retention: { count: 300 } })
    await kept.oldestSequence()
    const starts = new Set()
    let last = 0
    for (let i = 0; i < scaled(400, 100); i++) {
      const size = i % 50 === 7 ? 900 : 1 + ((i * 7919) % 40)
      starts.add(last + 1)
      last += size
      const batch = Array.from({ length: size }, (_, j) => ({ type: 'put', key: `${j}`, value: '' }))
      await db.batch(batch)
      const oldest = await kept.oldestSequence()
      assert.ok(starts.has(oldest), `${oldest} is the first of a batch`)
      assert.ok(last - oldest < 4000, `${last - oldest} are kept`)
    }
    await kept.trim()
    const [first] = await all(kept.read({ limit: 1 }))
    assert.equal(first.sequence, await kept.oldestSequence())
    assert.ok(starts.has(first.sequence))
  })
}

test('terrace: synchronous writes, which leave no turn at all, are trimmed as well', async (t) => {
  const db = await databases.terrace(t)
  const kept = feed(db, { retention: { count: 500 } })
  await kept.oldestSequence()
  const changes = scaled(40_000, 6000)
  for (let i = 0; i < changes; i++) db.putSync(`${i % 1000}`, 'value')
  const held = (await kept.lastSequence()) - (await kept.oldestSequence()) + 1
  assert.ok(held <= 1500, `${held} were kept`)
})
