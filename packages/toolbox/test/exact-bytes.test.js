// Typed arrays and what encodings refuse, in the parts that encode values themselves: a transaction's conditions, a feed's old values, a view
// with times to live.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { MemoryLevel } from 'terrace'
import { feed } from 'terrace-toolbox/feed'
import { transactions } from 'terrace-toolbox/transaction'
import { ttl } from 'terrace-toolbox/ttl'
import { viewsWith } from '../../core/test/support/exact-bytes.js'
import { databases } from './support/databases.js'

const encodings = { keyEncoding: 'view', valueEncoding: 'view' }
const views = viewsWith(runInNewContext('globalThis'))
const opens = { terrace: databases.terrace, MemoryLevel: async () => new MemoryLevel() }

for (const [name, open] of Object.entries(opens)) {
  test(`${name}: ifEquals compares the bytes of a view of any kind, and stores them`, async (t) => {
    const db = await open(t)
    const { ifEquals, ifAbsent } = transactions(db)
    for (const [kind, view, bytes] of views) {
      assert.equal(await ifAbsent(view, view, encodings), true, kind)
      assert.equal(await ifAbsent(bytes, bytes, encodings), false, kind)
      const other = Uint8Array.of(...bytes, 1)
      assert.equal(await ifEquals(view, other, bytes, encodings), false, kind)
      assert.equal(await ifEquals(view, view, other, encodings), true, kind)
      assert.deepEqual([...(await db.get(bytes, encodings))], [...other], kind)
      assert.equal(await ifEquals(bytes, other, view, encodings), true, kind)
      assert.deepEqual([...(await db.get(view, encodings))], [...bytes], kind)
      await db.clear()
    }
  })

  test(`${name}: a feed has all bytes of values and old values`, async (t) => {
    const db = await open(t)
    const changes = feed(db, { name: 'all', oldValues: true })
    await changes.ready
    const expected = []
    for (const [, view, bytes] of views) {
      await db.put(Uint8Array.of(1, ...bytes), view, encodings)
      await db.put(Uint8Array.of(1, ...bytes), 'new', encodings)
      expected.push([[...bytes], undefined], [[...Buffer.from('new')], [...bytes]])
      await db.del(Uint8Array.of(1, ...bytes), encodings)
      expected.push([undefined, [...Buffer.from('new')]])
    }
    const found = []
    for await (const { value, oldValue } of changes.read(encodings)) {
      found.push([value && [...value], oldValue && [...oldValue]])
    }
    assert.deepEqual(found, expected)
  })

  test(`${name}: what the database refuses is refused through a transaction and a view as well`, async (t) => {
    const db = await open(t)
    const view = ttl(db)
    await view.open()
    t.after(() => view.close())
    const transaction = transactions(db)
    const refused = [
      [5, 'view'],
      [() => {}, 'json'],
      ['xyz', 'hex'],
      ['\ud800', 'utf8'],
      ['x', { name: 'odd', format: 'utf8', encode: () => null, decode: String }]
    ]
    await db.put('kept', 'before')
    for (const [data, encoding] of refused) {
      const invalidValue = { code: 'LEVEL_INVALID_VALUE' }
      const invalidKey = { code: 'LEVEL_INVALID_KEY' }
      const values = { valueEncoding: encoding }
      const keys = { keyEncoding: encoding }
      await assert.rejects(view.put('kept', data, values), invalidValue)
      await assert.rejects(view.batch([{ type: 'put', key: 'kept', value: data }], values), invalidValue)
      await assert.rejects(view.put(data, 'v', keys), invalidKey)
      await assert.rejects(view.get(data, keys), invalidKey)
      await assert.rejects(
        transaction(async (attempt) => attempt.put('kept', data, values)),
        invalidValue
      )
      await assert.rejects(
        transaction(async (attempt) => attempt.get(data, keys)),
        invalidKey
      )
      assert.equal(await db.get('kept'), 'before')
    }
  })
}
