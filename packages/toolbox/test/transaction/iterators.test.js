// Iterators of transactions: what is stored merged with the transaction's own writes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactions } from 'terrace-toolbox/transaction'
import { scaled } from '../../../../tests/support/form.mjs'
import { databases } from '../support/databases.js'

const NAMES = ['a', 'ab', 'b', 'm', 'ö', '日', '😀', 'z', 'zz', '\0', 'a\0', 'a!']
const SPACES = [undefined, 'one', 'two']

/** One of the items. */
function pick(items) {
  return items[Math.floor(Math.random() * items.length)]
}

/** A random range. */
function randomRange() {
  const range = {}
  if (Math.random() < 0.5) range[pick(['gt', 'gte'])] = pick(NAMES)
  if (Math.random() < 0.5) range[pick(['lt', 'lte'])] = pick(NAMES)
  if (Math.random() < 0.4) range.limit = Math.floor(Math.random() * 6)
  if (Math.random() < 0.5) range.reverse = true
  return range
}

/** Does some random writes, with the function `write(operation)`. */
function randomWrites(count, sublevels, write) {
  for (let i = 0; i < count; i++) {
    const operation = { key: pick(NAMES), sublevel: pick(sublevels) }
    write(
      Math.random() < 0.6
        ? { ...operation, type: 'put', value: String(Math.random()) }
        : { ...operation, type: 'del' }
    )
  }
}

for (const [name, open] of Object.entries(databases)) {
  test(`${name}: iterators of random ranges show what will be stored after the commit`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    const sublevels = SPACES.map((space) => (space === undefined ? db : db.sublevel(space)))

    for (let round = 0; round < scaled(60); round++) {
      const seen = []
      const before = []
      randomWrites(12, sublevels, (operation) => before.push(operation))
      await db.batch(before)

      await transaction(async (tx) => {
        randomWrites(10, sublevels, ({ type, key, value, sublevel }) => {
          if (type === 'put') tx.put(key, value, { sublevel })
          else tx.del(key, { sublevel })
        })

        for (let i = 0; i < 12; i++) {
          const sublevel = pick(sublevels)
          const range = randomRange()
          const entries = await tx.iterator({ ...range, sublevel }).all()
          assert.deepEqual(
            await tx.keys({ ...range, sublevel }).all(),
            entries.map(([key]) => key)
          )
          assert.deepEqual(
            await tx.values({ ...range, sublevel }).all(),
            entries.map(([, value]) => value)
          )
          seen.push({ sublevel, range, entries })
        }
      })

      for (const { sublevel, range, entries } of seen) {
        assert.deepEqual(entries, await sublevel.iterator(range).all(), JSON.stringify(range))
      }
    }
  })

  test(`${name}: an iterator shows own writes as they were when it was made`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    await db.put('b', 'stored')

    await transaction(async (tx) => {
      tx.put('a', 'own')
      const seen = []
      for await (const [key] of tx.iterator()) {
        seen.push(key)
        tx.put('c', 'later')
        tx.del('b')
      }
      assert.deepEqual(seen, ['a', 'b'])
      assert.deepEqual(await tx.keys().all(), ['a', 'c'])
    })
    assert.deepEqual(await db.keys().all(), ['a', 'c'])
  })

  test(`${name}: a thousand entries, with own writes among them`, async (t) => {
    const db = await open(t, { keyEncoding: 'view', valueEncoding: 'json' })
    const transaction = transactions(db)
    const key = (i) => new Uint8Array([i >> 8, i & 255])
    await db.batch(Array.from({ length: 1000 }, (_, i) => ({ type: 'put', key: key(i), value: i })))

    await transaction(async (tx) => {
      for (let i = 0; i < 1000; i += 2) tx.del(key(i))
      for (let i = 1; i < 1000; i += 10) tx.put(key(i), -i)
      const expected = Array.from({ length: 500 }, (_, i) => 2 * i + 1).map((i) => (i % 10 === 1 ? -i : i))
      assert.deepEqual(await tx.values().all(), expected)
      assert.deepEqual(await tx.values({ reverse: true, limit: 3 }).all(), [999, 997, 995])
      assert.deepEqual(await tx.values({ gte: key(500), limit: 2 }).all(), [-501, 503])
      const keys = await tx.keys({ limit: 2 }).all()
      assert.deepEqual(
        keys.map((each) => [...each]),
        [
          [0, 1],
          [0, 3]
        ]
      )
    })
  })

  test(`${name}: iterators that are left open are closed with the transaction`, async (t) => {
    const db = await open(t)
    const transaction = transactions(db)
    await db.batch(['a', 'b', 'c'].map((key) => ({ type: 'put', key, value: '' })))

    await transaction(async (tx) => {
      tx.iterator()
      await tx.iterator().next()
      for await (const key of tx.keys()) if (key === 'b') break
      const iterator = tx.keys()
      assert.deepEqual(await iterator.next(), { done: false, value: 'a' })
      assert.deepEqual(await iterator.return(), { done: true, value: undefined })
      assert.deepEqual(await iterator.next(), { done: true, value: undefined })
      tx.put('d', '')
    })
    assert.equal(await db.get('d'), '')
  })
}
