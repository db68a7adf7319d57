// The option maxSizeBytes: a write beyond it fails and leaves nothing, and deletes still work.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLevel } from 'terrace'

const FULL = { code: 'LEVEL_SIZE_LIMIT' }

/** What an entry counts beside its key and value. */
const ENTRY_BYTES = 16

test('a put is stored up to the limit, to the byte', async () => {
  const db = new MemoryLevel({ maxSizeBytes: 100 })
  const longest = 'x'.repeat(100 - ENTRY_BYTES - 1)
  await assert.rejects(db.put('a', `${longest}x`), FULL)
  assert.throws(() => db.putSync('a', `${longest}x`), FULL)
  assert.equal(await db.has('a'), false)
  await db.put('a', longest)
  await assert.rejects(db.put('b', ''), FULL)
  await db.put('a', 'shorter')
  await db.put('b', '')
  assert.deepEqual(await db.keys().all(), ['a', 'b'])
})

test('of a batch beyond the limit nothing is stored', async () => {
  const db = new MemoryLevel({ maxSizeBytes: 1000 })
  await db.put('kept', 'x'.repeat(500))
  const before = await db.iterator().all()
  const large = [
    { type: 'del', key: 'kept' },
    { type: 'put', key: 'a', value: 'x'.repeat(400) },
    { type: 'put', key: 'b', value: 'x'.repeat(600) }
  ]
  await assert.rejects(db.batch(large), FULL)
  assert.throws(() => db.batchSync(large), FULL)
  const chained = db.batch()
  for (const { type, key, value } of large) type === 'put' ? chained.put(key, value) : chained.del(key)
  await assert.rejects(chained.write(), FULL)
  assert.deepEqual(await db.iterator().all(), before)

  const many = Array.from({ length: 5000 }, (_, i) => ({ type: 'put', key: String(i), value: '' }))
  await assert.rejects(db.batch(many), FULL)
  assert.deepEqual(await db.iterator().all(), before)
})

test('a batch counts as it leaves the database: the last operation on a key, without what it deletes', async () => {
  const db = new MemoryLevel({ maxSizeBytes: 1000 })
  await db.put('old', 'x'.repeat(900))
  await db.batch([
    { type: 'put', key: 'new', value: 'x'.repeat(900) },
    { type: 'del', key: 'old' },
    { type: 'put', key: 'other', value: 'x'.repeat(900) },
    { type: 'del', key: 'other' }
  ])
  assert.deepEqual(await db.keys().all(), ['new'])
})

test('a full database can be read, emptied and filled again', async () => {
  const db = new MemoryLevel({ maxSizeBytes: 10_000 })
  let written = 0
  const fill = async () => {
    for (;;) await db.put(`key ${written}`, 'value').then(() => written++)
  }
  await assert.rejects(fill(), FULL)
  const most = written
  assert.ok(most > 100)
  assert.ok(db.stats().sizeBytes <= 10_000)
  assert.equal((await db.keys().all()).length, most)
  await db.del('key 1')
  await db.put('key x', 'value')
  await db.clear({ limit: most / 2 })
  await assert.rejects(fill(), FULL)
  assert.ok(written > most * 1.4)
})

test('a lower limit, given to open(), refuses growth alone', async () => {
  const db = new MemoryLevel()
  await db.put('a', 'x'.repeat(1000))
  await db.close()
  await db.open({ maxSizeBytes: 100 })
  await assert.rejects(db.put('b', ''), FULL)
  await db.put('a', 'y'.repeat(900))
  await db.del('a')
  await db.put('b', '')
})

test('an error names the limit, and writes through sublevels and hooks obey it', async () => {
  const db = new MemoryLevel({ maxSizeBytes: 200 })
  await assert.rejects(db.sublevel('s').put('a', 'x'.repeat(181)), { message: /201 .*200/, ...FULL })
  db.hooks.prewrite.add((_, batch) => batch.add({ type: 'put', key: 'more', value: 'x'.repeat(180) }))
  await assert.rejects(db.put('a', '1'), FULL)
  assert.deepEqual(await db.keys().all(), [])
})

test('a limit of another type is refused', () => {
  for (const maxSizeBytes of [-1, 1.5, '1', Number.NaN]) {
    assert.throws(() => new MemoryLevel({ maxSizeBytes }), TypeError)
  }
  assert.ok(new MemoryLevel({ maxSizeBytes: Infinity }))
})
